/**
 * What a forge did not allow (403) and may allow later, when somebody unlocks a conversation, unarchives a project or gives
 * the token a right: it is asked again after a while, and not with each pass. In memory: a new start asks at once.
 */

import { BoundedMap } from '../../../controller/platform/runtime/bounded-map.ts';
import type { Clock } from '../../engine/clock.ts';

export const REFUSED_PAUSE_MS = 10 * 60_000;
const MOST = 2_000;

export interface RefusedWrites {
  /** What was refused, while it is not to be asked for again; null otherwise. */
  waiting(key: string): string | null;
  note(key: string, message: string): void;
  drop(key: string): void;
}

export function createRefusedWrites(clock: Clock): RefusedWrites {
  const known = new BoundedMap<{ until: number; message: string }>(MOST);
  return {
    waiting(key) {
      const one = known.get(key);
      return one && one.until > clock.monotonic() ? one.message : null;
    },
    note: (key, message) => known.set(key, { until: clock.monotonic() + REFUSED_PAUSE_MS, message }),
    drop: (key) => known.delete(key),
  };
}
