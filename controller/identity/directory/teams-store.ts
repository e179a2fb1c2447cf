/** The teams that groups lead to, and the lock under which rules and memberships are brought together. */
import type { Knex } from 'knex';

// An advisory lock of the database.
const RULES = 7_236_011;

/**
 * Until the transaction ends nobody changes what groups mean: neither the rules nor the teams that they name. Whoever
 * reconciles holds this, so that a change of the rules waits for him, or he for it; it may be asked for again.
 */
export async function lockRulesShared(tx: Knex): Promise<void> {
  await tx.raw('SELECT pg_advisory_xact_lock_shared(?)', [RULES]);
  await tx.raw(
    `SELECT 1 FROM teams WHERE id IN (SELECT team_id FROM team_mappings UNION SELECT default_team_id FROM group_settings)
       OR EXISTS (SELECT 1 FROM team_mapping_patterns)
     ORDER BY id FOR KEY SHARE`,
  );
}

/** Until the transaction ends nobody else reconciles anybody. First of all locks. */
export async function lockRules(tx: Knex): Promise<void> {
  await tx.raw('SELECT pg_advisory_xact_lock(?)', [RULES]);
}

/** Names by id, of those that exist; until the transaction ends none of them is deleted. */
export async function keepTeams(tx: Knex, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await tx.raw<{ rows: { id: string; name: string }[] }>(
    'SELECT id, name FROM teams WHERE id = ANY(?::text[]) ORDER BY id FOR KEY SHARE',
    [[...ids]],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export interface Named {
  teams: Map<string, string>;
  /** Addresses by user id. */
  people: Map<string, string>;
}

/** For the audit log. */
export async function readNames(
  db: Knex,
  of: { teamIds: readonly string[]; userIds: readonly string[] },
): Promise<Named> {
  const { rows } = await db.raw<{ rows: { id: string; name: string; team: boolean }[] }>(
    `SELECT id, name, true AS team FROM teams WHERE id = ANY(?::text[])
     UNION ALL SELECT id, email, false FROM users WHERE id = ANY(?::text[])`,
    [[...of.teamIds], [...of.userIds]],
  );
  const pairs = (team: boolean) =>
    new Map(rows.filter((row) => row.team === team).map(({ id, name }) => [id, name]));
  return { teams: pairs(true), people: pairs(false) };
}
