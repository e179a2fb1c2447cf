import { backoff } from '../../../reconcilers/loops/backoff.ts';
import { LIMITS } from '../../limits.ts';

/** Milliseconds until the next try after so many failures in a row: 1 s, 2 s, 4 s … 60 s. */
export const crashBackoff = backoff({
  firstMs: LIMITS.crashBackoffMs.first,
  capMs: LIMITS.crashBackoffMs.cap,
});

/** Milliseconds until a config that the engine has refused so often is built again: 1 s, 2 s, 4 s … 5 min. */
export const recheckBackoff = backoff({
  firstMs: LIMITS.recheckBackoffMs.first,
  capMs: LIMITS.recheckBackoffMs.cap,
});
