import { DomainError } from '../../controller/platform/errors.ts';

export interface RateLimit {
  /** Throws TOO_MANY_REQUESTS with the seconds to wait. */
  take(key: string): void;
}

const WINDOW_MS = 60_000;

/**
 * `points` a minute for each key, in this process; a key's minute begins with its first request. Every poll of every node
 * passes here: a map and no timer a key. Keys whose minute is over are swept out once a minute.
 */
export function perMinute(points: number, now: () => number = () => performance.now()): RateLimit {
  const windows = new Map<string, { endsAt: number; used: number }>();
  let sweepAt = now() + WINDOW_MS;

  function sweep(at: number): void {
    sweepAt = at + WINDOW_MS;
    for (const [key, { endsAt }] of windows) if (endsAt <= at) windows.delete(key);
  }

  return {
    take(key) {
      const at = now();
      if (at >= sweepAt) sweep(at);
      const window = windows.get(key);
      if (!window || window.endsAt <= at) {
        windows.set(key, { endsAt: at + WINDOW_MS, used: 1 });
        return;
      }
      window.used += 1;
      if (window.used <= points) return;
      const retryAfterSeconds = Math.max(1, Math.ceil((window.endsAt - at) / 1_000));
      throw new DomainError('TOO_MANY_REQUESTS', `Too many requests; try again in ${retryAfterSeconds} s`, {
        retryAfterSeconds,
      });
    },
  };
}
