/**
 * Brings the memberships that groups lead to in line with groups and mappings. Looks at what is there now and at nothing that
 * happened, so that any order of changes ends in the same memberships. Memberships that somebody set by hand stay.
 */
import type { Role } from '../../../schemas/api/common.ts';
import type { Context } from '../../platform/operation/context.ts';
import { endSessions } from '../access/index.ts';
import { changesOf, grantsOf, type MembershipChange } from './grants.ts';
import {
  applyMembershipChanges,
  lockDirectoryUsers,
  readDirectoryUsers,
  readMemberships,
  readRules,
} from './store.ts';
import { lockRulesShared } from './teams-store.ts';

/** In memory at once, and in one statement. */
const PIECE = 1_000;

/**
 * In a transaction, after the groups were changed. The rules stay as they are until its end. Locks the rows of these users in the order of their ids: of two syncs at
 * once the second waits and then sees what the first has left. A role that changes or goes ends the user's sessions.
 */
export async function reconcileMemberships(
  ctx: Pick<Context, 'db' | 'services'>,
  userIds: Iterable<string>,
): Promise<MembershipChange[]> {
  await lockRulesShared(ctx.db);
  const rules = await readRules(ctx.db);
  const sorted = [...new Set(userIds)].sort();
  const changes: MembershipChange[] = [];
  for (let from = 0; from < sorted.length; from += PIECE) {
    const piece = sorted.slice(from, from + PIECE);
    await lockDirectoryUsers(ctx.db, piece);
    const people = await readDirectoryUsers(ctx.db, piece);
    const { synced, manual } = await readMemberships(ctx.db, piece);
    const none: ReadonlyMap<string, Role> = new Map();
    for (const [userId, person] of people)
      changes.push(
        ...changesOf(
          userId,
          grantsOf(person, rules),
          synced.get(userId) ?? none,
          manual.get(userId) ?? new Set(),
        ),
      );
  }
  if (changes.length === 0) return [];
  await applyMembershipChanges(ctx.db, changes);
  const lost = changes.filter(({ before }) => before !== null).map(({ userId }) => userId);
  if (lost.length > 0) await endSessions(ctx, [...new Set(lost)]);
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
  return changes;
}

export const countsOf = (changes: readonly MembershipChange[]) => ({
  added: changes.filter(({ before }) => before === null).length,
  changed: changes.filter(({ before, after }) => before !== null && after !== null).length,
  removed: changes.filter(({ after }) => after === null).length,
});

const TOLD = 100;

/** For the audit row of whatever changed the groups: how many memberships followed, and the first of them. */
export function membershipsForAudit(changes: readonly MembershipChange[]): Record<string, unknown> {
  if (changes.length === 0) return {};
  return {
    memberships: { ...countsOf(changes), first: changes.slice(0, TOLD) },
  };
}
