/** For a transaction that somebody else may get ahead of: what it wanted to make is there by then, and the next try finds it. */
import { brokeUnique } from '../../../database/errors.ts';
import { DomainError } from '../../../platform/operation/errors.ts';

const ATTEMPTS = 4;
/** Postgres ends one of two transactions that wait for one another. */
const DEADLOCK = '40P01';

export async function retryIfTaken<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const taken =
        brokeUnique(error) ||
        (error instanceof DomainError && error.code === 'CONFLICT') ||
        (error as { code?: unknown }).code === DEADLOCK;
      if (!taken || attempt === ATTEMPTS) throw error;
    }
  }
}
