import type { Knex } from 'knex';
import type { TeamSummary } from '../../../schemas/api/identity/people.ts';
import { brokeUnique } from '../../database/errors.ts';
import { conflict, notFound } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';

/** The teams of a user; for a super admin all teams, with the role ADMIN. */
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

export interface Team {
  id: string;
  name: string;
  requireTwoFactor: boolean;
  createdAt: Date;
}

const COLUMNS = {
  id: 'id',
  name: 'name',
  requireTwoFactor: 'require_two_factor',
  createdAt: 'created_at',
};

/** Ids of existing teams by name in lower case. */
export async function findTeamsByName(db: Knex, names: readonly string[]): Promise<Map<string, string>> {
  const wanted = names.map((name) => name.toLowerCase());
  const { rows } = await db.raw<{ rows: { id: string; name: string }[] }>(
    'SELECT id, lower(name) AS name FROM teams WHERE lower(name) = ANY(?::text[])',
    [wanted],
  );
  return new Map(rows.map(({ id, name }) => [name, id]));
}

export async function findTeam(db: Knex, id: string): Promise<Team | null> {
  const row: Team | undefined = await db('teams').where({ id }).first(COLUMNS);
  return row ?? null;
}

/** Names of the team's environments. */
export async function listEnvironmentsOf(db: Knex, teamId: string): Promise<string[]> {
  const rows: { name: string }[] = await db('environments')
    .where({ team_id: teamId })
    .orderBy('name')
    .select('name');
  return rows.map(({ name }) => name);
}

const nameTaken = (name: string) => conflict(`A team named "${name}" exists already`);

export async function insertTeam(db: Knex, name: string): Promise<string> {
  const id = newId();
  try {
    await db('teams').insert({ id, name });
  } catch (error) {
    if (brokeUnique(error)) throw nameTaken(name);
    throw error;
  }
  return id;
}

/** @throws CONFLICT where another team has the name; upper and lower case count as equal. */
export async function updateTeam(
  tx: Knex,
  id: string,
  change: { name?: string; requireTwoFactor?: boolean },
): Promise<void> {
  try {
    await tx('teams')
      .where({ id })
      .update({
        ...(change.name === undefined ? {} : { name: change.name }),
        ...(change.requireTwoFactor === undefined ? {} : { require_two_factor: change.requireTwoFactor }),
      });
  } catch (error) {
    if (brokeUnique(error)) throw nameTaken(change.name ?? '');
    throw error;
  }
}

export async function deleteTeam(tx: Knex, id: string): Promise<void> {
  await tx('teams').where({ id }).delete();
}

/** Locks the team until the transaction ends, for checks that count rows of the team. */
export async function lockTeam(tx: Knex, teamId: string): Promise<Team> {
  return requireTeam(await tx('teams').where({ id: teamId }).forNoKeyUpdate().first(COLUMNS));
}

/** Also blocks inserts that refer to the team, and waits for those under way. */
export async function lockTeamForDelete(tx: Knex, teamId: string): Promise<Team> {
  return requireTeam(await tx('teams').where({ id: teamId }).forUpdate().first(COLUMNS));
}

function requireTeam(team: Team | undefined): Team {
  if (!team) throw notFound('Team');
  return team;
}

/** Whether the session would need a second factor if the team required one. */
export async function lacksSecondFactor(
  db: Knex,
  session: { teamId: string; userId: string; sessionId: string },
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `SELECT 1 FROM users u JOIN team_members m ON m.user_id = u.id AND m.team_id = :teamId
     WHERE u.id = :userId AND NOT u.totp_enabled
       AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = :sessionId AND s.method = 'oidc')`,
    session,
  );
  return rows.length > 0;
}
