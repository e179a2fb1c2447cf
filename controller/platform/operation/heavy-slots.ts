/**
 * How much heavy work (searches, plans) runs at a time in this process. Each user has a few slots, so that one who asks for
 * much waits for himself; all together have a few more, so that the database has connections left for what is light.
 */
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import { DomainError } from './errors.ts';

export interface HeavySlotLimits {
  /** At a time, of one key and of all. */
  perKey: number;
  total: number;
  /** Waiting for a slot, of one key and of all. Later callers are rejected at once. */
  waitingPerKey: number;
  waiting: number;
  /** A caller that has waited this long is rejected. */
  waitMs: number;
  /**
   * What runs for longer waits for others, such as a git server, since no statement may take so long: it keeps its slot of the
   * key and gives the one of all back. Null: every slot is kept to the end.
   */
  longMs: number | null;
}

export const HEAVY_SLOT_LIMITS: HeavySlotLimits = {
  perKey: 2,
  total: 4,
  waitingPerKey: 8,
  waiting: 200,
  waitMs: 10_000,
  longMs: 20_000,
};
const RETRY_AFTER_SECONDS = 3;

export interface HeavySlots {
  /** Does `work` in a slot of `key`. TOO_MANY_REQUESTS where none comes free; the signal's reason where it is aborted first. */
  run<T>(key: string, ctx: { clock: Clock; signal: AbortSignal }, work: () => Promise<T>): Promise<T>;
}

interface Waiting {
  key: string;
  admit(): void;
}

/** `refusal`: what is thrown where no slot comes free; `isOwn` where the key has all that one may have. */
export function createHeavySlots(
  limits: HeavySlotLimits = HEAVY_SLOT_LIMITS,
  refusal: (isOwn: boolean) => DomainError = tooMany,
): HeavySlots {
  /** Key to slots that are taken; absent for none. */
  const taken = new Map<string, number>();
  let total = 0;
  const waiting: Waiting[] = [];

  const isFree = (key: string) => total < limits.total && (taken.get(key) ?? 0) < limits.perKey;

  const refused = (key: string) => refusal((taken.get(key) ?? 0) >= limits.perKey);

  function take(key: string): void {
    total += 1;
    taken.set(key, (taken.get(key) ?? 0) + 1);
  }

  function releaseTotal(): void {
    total -= 1;
    admitNext();
  }

  function releaseKey(key: string): void {
    const left = (taken.get(key) ?? 0) - 1;
    if (left > 0) taken.set(key, left);
    else taken.delete(key);
    admitNext();
  }

  function admitNext(): void {
    const next = waiting.find((one) => isFree(one.key));
    next?.admit();
  }

  function assertRoom(key: string): void {
    const own = waiting.filter((one) => one.key === key).length;
    if (own >= limits.waitingPerKey || waiting.length >= limits.waiting) throw refused(key);
  }

  /** Returns with the slot taken. */
  async function enter(key: string, { clock, signal }: { clock: Clock; signal: AbortSignal }): Promise<void> {
    signal.throwIfAborted();
    if (isFree(key)) return take(key);
    assertRoom(key);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (reason: unknown) => {
      waiting.splice(waiting.indexOf(entry), 1);
      reject(reason);
    };
    const entry: Waiting = {
      key,
      admit() {
        waiting.splice(waiting.indexOf(entry), 1);
        take(key);
        resolve();
      },
    };
    waiting.push(entry);
    const cancelTimer = clock.after(limits.waitMs, () => leave(refused(key)));
    const onAbort = () => leave(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await promise;
    } finally {
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    async run(key, ctx, work) {
      await enter(key, ctx);
      let isLong = false;
      const onLong = () => {
        isLong = true;
        releaseTotal();
      };
      const cancelTimer = limits.longMs === null ? null : ctx.clock.after(limits.longMs, onLong);
      try {
        return await work();
      } finally {
        cancelTimer?.();
        releaseKey(key);
        if (!isLong) releaseTotal();
      }
    },
  };
}

const tooMany = () =>
  new DomainError(
    'TOO_MANY_REQUESTS',
    `Too many searches and plans run at the moment. Try again in ${RETRY_AFTER_SECONDS} s`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
