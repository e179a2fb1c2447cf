/** The teams of group mappings, and the lock for changes of the rules and for reconciliations. */
import type { Knex } from 'knex';

// The key of a Postgres advisory lock.
const RULES_LOCK = 7_236_011;

/**
 * Locks the group rules and the teams of mappings against changes until the transaction ends. Every reconciliation holds it, so
 * that it and a change of the rules wait for each other. It may be taken repeatedly.
 */
export async function lockRulesShared(tx: Knex): Promise<void> {
  await tx.raw('SELECT pg_advisory_xact_lock_shared(?)', [RULES_LOCK]);
  await tx.raw(
    `SELECT 1 FROM teams WHERE id IN (SELECT team_id FROM team_mappings UNION SELECT default_team_id FROM group_settings)
       OR EXISTS (SELECT 1 FROM team_mapping_patterns)
     ORDER BY id FOR KEY SHARE`,
  );
}

/** Blocks all other reconciliations until the transaction ends. Take it before all other locks. */
export async function lockRules(tx: Knex): Promise<void> {
  await tx.raw('SELECT pg_advisory_xact_lock(?)', [RULES_LOCK]);
}

/** Names of existing teams by id; it locks the teams against deletion until the transaction ends. */
export async function lockTeamNames(tx: Knex, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await tx.raw<{ rows: { id: string; name: string }[] }>(
    'SELECT id, name FROM teams WHERE id = ANY(?::text[]) ORDER BY id FOR KEY SHARE',
    [[...ids]],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export interface Names {
  teams: Map<string, string>;
  /** Email addresses by user id. */
  users: Map<string, string>;
}

/** Team names and user addresses for the audit log. */
export async function readNames(
  db: Knex,
  ids: { teamIds: readonly string[]; userIds: readonly string[] },
): Promise<Names> {
  const { rows } = await db.raw<{ rows: { id: string; name: string; team: boolean }[] }>(
    `SELECT id, name, true AS team FROM teams WHERE id = ANY(?::text[])
     UNION ALL SELECT id, email, false FROM users WHERE id = ANY(?::text[])`,
    [[...ids.teamIds], [...ids.userIds]],
  );
  const pairs = (team: boolean) =>
    new Map(rows.filter((row) => row.team === team).map(({ id, name }) => [id, name]));
  return { teams: pairs(true), users: pairs(false) };
}
