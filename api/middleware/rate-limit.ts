import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { DomainError } from '../../controller/platform/errors.ts';

export interface RateLimit {
  /** Throws TOO_MANY_REQUESTS with the seconds to wait. */
  take(key: string): Promise<void>;
}

/** `points` a minute for each key, in this process. */
export function perMinute(points: number): RateLimit {
  const limiter = new RateLimiterMemory({ points, duration: 60 });
  return {
    async take(key) {
      try {
        await limiter.consume(key);
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        const retryAfterSeconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
        throw new DomainError('TOO_MANY_REQUESTS', `Too many requests; try again in ${retryAfterSeconds} s`, {
          retryAfterSeconds,
        });
      }
    },
  };
}
