/** The audit rows of memberships that followed groups: one a team, so that a team's log tells of them. */
import type { Knex } from 'knex';
import type { AuditEntry } from '../../platform/operation/audit-entry.ts';
import type { MembershipChange } from './grants.ts';
import { countsOf } from './reconcile-memberships.ts';
import { readNames } from './teams-store.ts';

/** People that a row names; how many there were is told of all. */
const NAMED = 100;

/** None where no membership changed. */
export async function membershipEntries(
  db: Knex,
  changes: readonly MembershipChange[],
): Promise<AuditEntry[]> {
  if (changes.length === 0) return [];
  const byTeam = Map.groupBy(changes, ({ teamId }) => teamId);
  const named = [...byTeam.values()].flatMap((of) => of.slice(0, NAMED));
  const names = await readNames(db, {
    teamIds: [...byTeam.keys()],
    userIds: [...new Set(named.map(({ userId }) => userId))],
  });
  return [...byTeam].map(([teamId, of]) => ({
    action: 'team.membersSynced',
    entityType: 'Team',
    entityId: teamId,
    teamId,
    diff: Object.fromEntries(
      of
        .slice(0, NAMED)
        .map(({ userId, before, after }) => [names.people.get(userId) ?? userId, [before, after]]),
    ),
    metadata: { name: names.teams.get(teamId) ?? teamId, ...countsOf(of) },
  }));
}
