import type { Knex } from 'knex';
import type { Environment, EnvironmentSummary } from '../../schemas/api/environments.ts';
import { brokeUnique } from '../database/errors.ts';
import { conflict } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';

const SUMMARY = `
  e.id, e.name, e.team_id AS "teamId", e.secret_backend AS "secretBackend", e.created_at AS "createdAt",
  coalesce(b.mode, 'off') AS "gitMode",
  (SELECT count(*) FROM nodes n WHERE n.environment_id = e.id) AS "nodeCount",
  (SELECT count(*) FROM pipelines p WHERE p.environment_id = e.id AND p.tombstoned_at IS NULL) AS "pipelineCount"`;

export async function listEnvironments(db: Knex, teamId: string): Promise<EnvironmentSummary[]> {
  const { rows } = await db.raw<{ rows: EnvironmentSummary[] }>(
    `SELECT ${SUMMARY} FROM environments e LEFT JOIN git_bindings b ON b.environment_id = e.id
     WHERE e.team_id = ? ORDER BY lower(e.name)`,
    [teamId],
  );
  return rows;
}

type Row = EnvironmentSummary & { requireApproval: boolean; maxNodes: number | null };

export async function findEnvironment(db: Knex, id: string): Promise<Environment | null> {
  const { rows } = await db.raw<{ rows: Row[] }>(
    `SELECT ${SUMMARY}, e.require_approval AS "requireApproval", e.max_nodes AS "maxNodes"
     FROM environments e LEFT JOIN git_bindings b ON b.environment_id = e.id WHERE e.id = ?`,
    [id],
  );
  const row = rows[0];
  if (!row) return null;
  const enrollmentToken = await db('enrollment_tokens')
    .where({ environment_id: id, revoked_at: null })
    .orderBy('created_at', 'desc')
    .first('id', 'uses', { createdAt: 'created_at', expiresAt: 'expires_at', maxUses: 'max_uses' });
  return { ...row, enrollmentToken: enrollmentToken ?? null };
}

export async function insertEnvironment(
  db: Knex,
  environment: { name: string; teamId: string },
): Promise<string> {
  const id = newId();
  try {
    await db('environments').insert({ id, team_id: environment.teamId, name: environment.name });
  } catch (error) {
    if (brokeUnique(error))
      throw conflict(`An environment named "${environment.name}" exists already in this team`);
    throw error;
  }
  return id;
}

/** Everything that changes what nodes are served says so here, in its own transaction. */
export async function bumpConfigRevision(db: Knex, environmentId: string): Promise<void> {
  await db('environments').where({ id: environmentId }).increment('config_revision', 1);
}

/** Earlier tokens stop working: one live token an environment. */
export async function replaceEnrollmentToken(
  db: Knex,
  token: {
    id: string;
    environmentId: string;
    tokenHash: Buffer;
    maxUses: number | null;
    expiresAt: Date | null;
  },
): Promise<void> {
  await db('enrollment_tokens')
    .where({ environment_id: token.environmentId, revoked_at: null })
    .update({ revoked_at: db.fn.now() });
  await db('enrollment_tokens').insert({
    id: token.id,
    environment_id: token.environmentId,
    token_hash: token.tokenHash,
    max_uses: token.maxUses,
    expires_at: token.expiresAt,
  });
}

/** Ids of the environments of some teams; of all of them for null. */
export async function visibleEnvironments(db: Knex, teamIds: readonly string[] | null): Promise<string[]> {
  const query = db('environments');
  return (teamIds === null ? query : query.whereIn('team_id', teamIds)).pluck('id');
}
