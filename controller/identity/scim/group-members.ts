/** Combines several changes of members into one. Pure. */
import type { GroupChange } from '../../../schemas/scim/group.ts';

export interface MemberDelta {
  /** Whether all members who are not in `join` leave. */
  only: boolean;
  join: ReadonlySet<string>;
  leave: ReadonlySet<string>;
}

/** Applies the changes in order without reading the members of the group: there may be thousands. */
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
    const [target, opposite] = change.how === 'add' ? [join, leave] : [leave, join];
    for (const id of change.ids) {
      target.add(id);
      opposite.delete(id);
    }
  }
  return { only, join, leave };
}
