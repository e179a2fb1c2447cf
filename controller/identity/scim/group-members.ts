/** What several changes of members come to. Pure. */
import type { GroupChange } from '../../../schemas/scim/group.ts';

export interface MemberDelta {
  /** Whether whoever is not in `join` leaves. */
  only: boolean;
  join: ReadonlySet<string>;
  leave: ReadonlySet<string>;
}

/** One after the other, without knowing who is in the group: thousands may be. */
export function memberDelta(changes: readonly GroupChange[]): MemberDelta {
  let only = false;
  let join = new Set<string>();
  let leave = new Set<string>();
  for (const change of changes) {
    if (change.kind !== 'members') continue;
    if (change.how === 'set') {
      only = true;
      join = new Set(change.ids);
      leave = new Set();
      continue;
    }
    const [into, outOf] = change.how === 'add' ? [join, leave] : [leave, join];
    for (const id of change.ids) {
      into.add(id);
      outOf.delete(id);
    }
  }
  return { only, join, leave };
}
