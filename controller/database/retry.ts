import { isDeadlock } from './errors.ts';

const ATTEMPTS = 4;

/** Runs `work` up to four times, as long as it fails with an error for which `isTransient` holds. */
export async function retryWhile<T>(
  isTransient: (error: unknown) => boolean,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isTransient(error)) throw error;
    }
  }
}

/** PostgreSQL ends one of two transactions that wait for each other, and rolls it back: it may run again. */
export const retryOnDeadlock = <T>(work: () => Promise<T>): Promise<T> => retryWhile(isDeadlock, work);
