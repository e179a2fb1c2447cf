/** When a delivery is tried again, and when it is given up. */
import { jitter } from '../../../../reconcilers/loops/backoff.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DELAYS_MS = [10 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE];
/** A server may not put a message off for longer. */
const MAX_RETRY_AFTER_MS = 60 * MINUTE;

export const MAX_ATTEMPTS = DELAYS_MS.length + 1;

/** Answers without which trying again is of use: 4xx says that the request is wrong, but for these. */
const RETRIED_4XX = new Set([408, 425, 429]);
export const isFinalStatus = (status: number): boolean =>
  status >= 400 && status < 500 && !RETRIED_4XX.has(status);

/**
 * Milliseconds until the next try after `attempts` of them failed; null where that was the last. With jitter, so that
 * messages which failed together do not return together; never before `retryAfterMs`.
 */
export function delayAfter(
  attempts: number,
  retryAfterMs: number | null,
  random?: () => number,
): number | null {
  const delay = DELAYS_MS[attempts - 1];
  if (delay === undefined) return null;
  return Math.max(jitter(delay, random), Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
}

/** Of the header `Retry-After`: seconds or a date (RFC 9110, 10.2.3). Null for anything else. */
export function readRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * SECOND;
  // Date.parse takes many texts that are no HTTP date.
  const at = /^[A-Za-z]{3,9}, [\w :-]{15,30} GMT$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
