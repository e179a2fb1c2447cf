import { networkOf } from '../../controller/platform/net/address-network.ts';
import { DomainError } from '../../controller/platform/operation/errors.ts';

export interface RateLimitState {
  /** How many there are in a window. */
  points: number;
  windowSeconds: number;
  remaining: number;
  /** Until the window of this key ends; a new one begins with the next request. */
  resetSeconds: number;
}

export interface RateLimit {
  /** Counts one. Throws TOO_MANY_REQUESTS with the seconds to wait. */
  take(key: string): void;
  /** Counts nothing. Throws as `take` would. */
  check(key: string): void;
  /** Counts nothing. */
  state(key: string): RateLimitState;
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
      if (window.used > points) throw tooMany(window.endsAt - at);
    },
    check(key) {
      const at = now();
      const window = windows.get(key);
      if (window && window.endsAt > at && window.used >= points) throw tooMany(window.endsAt - at);
    },
    state(key) {
      const at = now();
      const window = windows.get(key);
      const isOpen = window !== undefined && window.endsAt > at;
      return {
        points,
        windowSeconds: WINDOW_MS / 1_000,
        remaining: isOpen ? Math.max(0, points - window.used) : points,
        resetSeconds: isOpen ? Math.ceil((window.endsAt - at) / 1_000) : WINDOW_MS / 1_000,
      };
    },
  };
}

/** As `perMinute`, by the address of a client: an IPv6 address counts as its network of 64 bits. */
export function perMinuteByAddress(points: number, now?: () => number): RateLimit {
  const limit = perMinute(points, now);
  return {
    take: (address) => limit.take(networkOf(address)),
    check: (address) => limit.check(networkOf(address)),
    state: (address) => limit.state(networkOf(address)),
  };
}

function tooMany(waitMs: number): DomainError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return new DomainError('TOO_MANY_REQUESTS', `Too many requests; try again in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  });
}
