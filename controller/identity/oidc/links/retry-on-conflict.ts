import { brokeUnique, isDeadlock } from '../../../database/errors.ts';
import { retryWhile } from '../../../database/retry.ts';
import { DomainError } from '../../../platform/operation/errors.ts';

/** For a transaction that creates what another one may create first: the next attempt finds it. */
export const retryOnConflict = <T>(work: () => Promise<T>): Promise<T> =>
  retryWhile(
    (error) =>
      brokeUnique(error) || isDeadlock(error) || (error instanceof DomainError && error.code === 'CONFLICT'),
    work,
  );
