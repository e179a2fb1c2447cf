/**
 * Writes that a forge denied (403) and may allow later, once a conversation is unlocked, a project unarchived or the token has
 * the right. They are retried after a pause, not in each pass. Kept in memory: a restart retries at once.
 */
import { BoundedMap } from '../../../controller/platform/runtime/bounded-map.ts';
import type { Clock } from '../../loops/clock.ts';

export const REFUSED_PAUSE_MS = 10 * 60_000;
const MAX_DENIED = 2_000;

export interface RefusedWrites {
  /** The message of the denial while the write is paused; null otherwise. */
  waiting(key: string): string | null;
  note(key: string, message: string): void;
  drop(key: string): void;
}

export function createRefusedWrites(clock: Clock): RefusedWrites {
  const known = new BoundedMap<{ until: number; message: string }>(MAX_DENIED);
  return {
    waiting(key) {
      const one = known.get(key);
      return one && one.until > clock.monotonic() ? one.message : null;
    },
    note: (key, message) => known.set(key, { until: clock.monotonic() + REFUSED_PAUSE_MS, message }),
    drop: (key) => known.delete(key),
  };
}
