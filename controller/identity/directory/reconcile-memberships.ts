/**
 * Reconciles memberships with groups and mappings. It reads the current state and no history, so that any order of changes gives
 * the same memberships. Manual memberships stay.
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

/** Users per statement and in memory. */
const BATCH = 1_000;

/**
 * Runs in a transaction after a change of groups, and locks the rules until its end. It locks the rows of the users in the order
 * of their ids, so that a concurrent sync waits and then reads the result. A changed or removed role ends the user's sessions.
 */
export async function reconcileMemberships(
  ctx: Pick<Context, 'db' | 'services'>,
  userIds: Iterable<string>,
): Promise<MembershipChange[]> {
  await lockRulesShared(ctx.db);
  const rules = await readRules(ctx.db);
  const sorted = [...new Set(userIds)].sort();
  const changes: MembershipChange[] = [];
  for (let from = 0; from < sorted.length; from += BATCH) {
    const batch = sorted.slice(from, from + BATCH);
    await lockDirectoryUsers(ctx.db, batch);
    const users = await readDirectoryUsers(ctx.db, batch);
    const { synced, manual } = await readMemberships(ctx.db, batch);
    const none: ReadonlyMap<string, Role> = new Map();
    for (const [userId, user] of users)
      changes.push(
        ...changesOf(
          userId,
          grantsOf(user, rules),
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

const MAX_LISTED = 100;

/** The metadata for the audit row of a change of groups: the number of changed memberships, and the first of them. */
export function membershipsForAudit(changes: readonly MembershipChange[]): Record<string, unknown> {
  if (changes.length === 0) return {};
  return {
    memberships: { ...countsOf(changes), first: changes.slice(0, MAX_LISTED) },
  };
}
