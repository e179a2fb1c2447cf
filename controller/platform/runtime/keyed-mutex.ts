import pLimit, { type LimitFunction } from 'p-limit';

/** Runs work of one key one at a time, in the order of the calls, and work of different keys side by side. */
export interface KeyedMutex {
  runExclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createKeyedMutex(): KeyedMutex {
  const limits = new Map<string, LimitFunction>();
  return {
    async runExclusive(key, work) {
      const limit = limits.get(key) ?? pLimit(1);
      limits.set(key, limit);
      try {
        return await limit(work);
      } finally {
        const isIdle = limit.activeCount + limit.pendingCount === 0;
        if (isIdle && limits.get(key) === limit) limits.delete(key);
      }
    },
  };
}
