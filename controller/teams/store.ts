import type { Knex } from 'knex';
import type { TeamSummary } from '../../schemas/api/people.ts';
import { brokeUnique } from '../database/errors.ts';
import { conflict, notFound } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';

/** The teams that a user sees: his own, or every one for a super admin, who is ADMIN in each. */
export async function listTeams(
  db: Knex,
  user: { userId: string; isSuperAdmin: boolean },
): Promise<TeamSummary[]> {
  const { rows } = await db.raw<{ rows: TeamSummary[] }>(
    `SELECT t.id, t.name, CASE WHEN :all THEN 'ADMIN' ELSE m.role END AS role, t.created_at AS "createdAt",
       (SELECT count(*) FROM team_members c WHERE c.team_id = t.id) AS "memberCount",
       (SELECT count(*) FROM environments e WHERE e.team_id = t.id) AS "environmentCount"
     FROM teams t LEFT JOIN team_members m ON m.team_id = t.id AND m.user_id = :userId
     WHERE :all OR m.user_id IS NOT NULL
     ORDER BY lower(t.name)`,
    { userId: user.userId, all: user.isSuperAdmin },
  );
  return rows;
}

export async function insertTeam(db: Knex, name: string): Promise<string> {
  const id = newId();
  try {
    await db('teams').insert({ id, name });
  } catch (error) {
    if (brokeUnique(error)) throw conflict(`A team named "${name}" exists already`);
    throw error;
  }
  return id;
}

export async function addMember(db: Knex, teamId: string, userId: string, role: string): Promise<void> {
  await db('team_members').insert({ team_id: teamId, user_id: userId, role });
}

/** Until the transaction ends, whoever else asks for this waits: what counts rows of a team counts them alone. */
export async function lockTeam(tx: Knex, teamId: string): Promise<void> {
  const row = await tx('teams').where({ id: teamId }).forNoKeyUpdate().first('id');
  if (!row) throw notFound('Team');
}
