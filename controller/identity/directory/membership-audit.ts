/** The audit rows of membership changes by groups: one row per team, so that they appear in the log of the team. */
import type { Knex } from 'knex';
import type { AuditEntry } from '../../platform/operation/audit-entry.ts';
import type { MembershipChange } from './grants.ts';
import { countsOf } from './reconcile-memberships.ts';
import { readNames } from './teams-store.ts';

/** Users that a row names; the counts cover all users. */
const MAX_NAMED = 100;

/** Empty where no membership changed. */
export async function membershipEntries(
  db: Knex,
  changes: readonly MembershipChange[],
): Promise<AuditEntry[]> {
  if (changes.length === 0) return [];
  const byTeam = Map.groupBy(changes, ({ teamId }) => teamId);
  const listed = [...byTeam.values()].flatMap((teamChanges) => teamChanges.slice(0, MAX_NAMED));
  const names = await readNames(db, {
    teamIds: [...byTeam.keys()],
    userIds: [...new Set(listed.map(({ userId }) => userId))],
  });
  return [...byTeam].map(([teamId, teamChanges]) => ({
    action: 'team.membersSynced',
    entityType: 'Team',
    entityId: teamId,
    teamId,
    diff: Object.fromEntries(
      teamChanges
        .slice(0, MAX_NAMED)
        .map(({ userId, before, after }) => [names.users.get(userId) ?? userId, [before, after]]),
    ),
    metadata: { name: names.teams.get(teamId) ?? teamId, ...countsOf(teamChanges) },
  }));
}
