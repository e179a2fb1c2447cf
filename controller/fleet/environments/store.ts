import type { Knex } from 'knex';
import type { Environment, EnvironmentSummary } from '../../../schemas/api/fleet/environments.ts';
import { brokeUnique } from '../../database/errors.ts';
import { conflict, notFound } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { effectiveRedactKeys } from './redact-keys.ts';

const SUMMARY = `
  e.id, e.name, e.team_id AS "teamId", e.secret_backend AS "secretBackend", e.created_at AS "createdAt",
  coalesce(b.mode, 'off') AS "gitMode",
  (SELECT count(*) FROM nodes n WHERE n.environment_id = e.id AND n.archived_at IS NULL) AS "nodeCount",
  (SELECT count(*) FROM pipelines p WHERE p.environment_id = e.id AND p.tombstoned_at IS NULL) AS "pipelineCount"`;

export async function listEnvironments(db: Knex, teamId: string): Promise<EnvironmentSummary[]> {
  const { rows } = await db.raw<{ rows: EnvironmentSummary[] }>(
    `SELECT ${SUMMARY} FROM environments e LEFT JOIN git_bindings b ON b.environment_id = e.id
     WHERE e.team_id = ? ORDER BY lower(e.name)`,
    [teamId],
  );
  return rows;
}

/** Finds environments by id, by name, or by `team/name`, ignoring case. With the team, names are unique. */
export async function findEnvironmentsNamed(
  db: Knex,
  name: string,
): Promise<{ id: string; name: string; teamName: string }[]> {
  const { rows } = await db.raw<{ rows: { id: string; name: string; teamName: string }[] }>(
    `SELECT e.id, e.name, t.name AS "teamName" FROM environments e JOIN teams t ON t.id = e.team_id
     WHERE e.id = :name OR lower(e.name) = lower(:name) OR lower(t.name || '/' || e.name) = lower(:name)
     ORDER BY t.name, e.name LIMIT 20`,
    { name },
  );
  return rows;
}

type Row = EnvironmentSummary & {
  requireApproval: boolean;
  maxNodes: number | null;
  archiveNodesAfterDays: number;
  autoRevert: boolean;
  pricePerGb: number | null;
  redactKeys: string[] | null;
};
/** An environment without the fields that only its secret store knows. */
export type EnvironmentRecord = Omit<Environment, 'secretStore' | 'secretCommands'>;

export async function findEnvironment(db: Knex, id: string): Promise<EnvironmentRecord | null> {
  const { rows } = await db.raw<{ rows: Row[] }>(
    `SELECT ${SUMMARY}, e.require_approval AS "requireApproval", e.max_nodes AS "maxNodes",
       e.archive_nodes_after_days AS "archiveNodesAfterDays",
       e.auto_revert AS "autoRevert", e.price_per_gb AS "pricePerGb", e.redact_keys AS "redactKeys"
     FROM environments e LEFT JOIN git_bindings b ON b.environment_id = e.id WHERE e.id = ?`,
    [id],
  );
  const row = rows[0];
  if (!row) return null;
  const enrollmentToken = await db('enrollment_tokens')
    .where({ environment_id: id, revoked_at: null })
    .orderBy('created_at', 'desc')
    .first('id', 'uses', { createdAt: 'created_at', expiresAt: 'expires_at', maxUses: 'max_uses' });
  return {
    ...row,
    redactKeys: [...effectiveRedactKeys(row.redactKeys)],
    redactKeysAreDefault: row.redactKeys === null,
    enrollmentToken: enrollmentToken ?? null,
  };
}

export async function insertEnvironment(
  db: Knex,
  environment: { name: string; teamId: string },
): Promise<string> {
  const id = newId();
  try {
    await db('environments').insert({ id, team_id: environment.teamId, name: environment.name });
  } catch (error) {
    throw explainConflict(error, environment.name);
  }
  return id;
}

/** Must be called by every change to what nodes are served, in the same transaction. */
export async function bumpConfigRevision(db: Knex, environmentId: string): Promise<void> {
  await db('environments').where({ id: environmentId }).increment('config_revision', 1);
}

/** Revokes earlier tokens: an environment has one valid token. */
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
  await lockEnvironment(db, token.environmentId);
  await revokeEnrollmentTokens(db, token.environmentId);
  await db('enrollment_tokens').insert({
    id: token.id,
    environment_id: token.environmentId,
    token_hash: token.tokenHash,
    max_uses: token.maxUses,
    expires_at: token.expiresAt,
  });
}

/** Ids of the environments of these teams; of all teams for null. */
export async function visibleEnvironments(db: Knex, teamIds: readonly string[] | null): Promise<string[]> {
  const query = db('environments');
  return (teamIds === null ? query : query.whereIn('team_id', teamIds)).pluck('id');
}

/** Serializes transactions that count rows of an environment, until this one ends. */
export async function lockEnvironment(tx: Knex, id: string): Promise<void> {
  const row = await tx('environments').where({ id }).forNoKeyUpdate().first('id');
  if (!row) throw notFound('Environment');
}

export async function updateEnvironment(
  tx: Knex,
  id: string,
  columns: {
    name: string;
    requireApproval: boolean;
    maxNodes: number | null;
    archiveNodesAfterDays: number;
    autoRevert: boolean;
    pricePerGb: number | null;
    /** Absent leaves the list unchanged. */
    redactKeys?: readonly string[] | null | undefined;
  },
): Promise<void> {
  await tx('environments')
    .where({ id })
    .update({
      name: columns.name,
      require_approval: columns.requireApproval,
      max_nodes: columns.maxNodes,
      archive_nodes_after_days: columns.archiveNodesAfterDays,
      auto_revert: columns.autoRevert,
      price_per_gb: columns.pricePerGb,
      ...(columns.redactKeys === undefined ? {} : { redact_keys: columns.redactKeys }),
      updated_at: tx.fn.now(),
    })
    .catch((error: unknown) => {
      throw explainConflict(error, columns.name);
    });
}

/** Nodes that enrolled with the tokens stay. Returns the number of revoked tokens and the id of the newest. */
export async function revokeEnrollmentTokens(
  tx: Knex,
  environmentId: string,
): Promise<{ id: string; count: number } | null> {
  const rows: { id: string }[] = await tx('enrollment_tokens')
    .where({ environment_id: environmentId, revoked_at: null })
    .update({ revoked_at: tx.fn.now() })
    .returning('id');
  const newest = rows
    .map(({ id }) => id)
    .sort()
    .at(-1);
  return newest === undefined ? null : { id: newest, count: rows.length };
}

/** Locks an environment and its contents before it is deleted. Returns false if it does not exist. */
export async function lockContents(tx: Knex, id: string): Promise<boolean> {
  // In the order in which other operations lock: a deploy its pipeline, an enrollment its token, and then the environment.
  await tx('enrollment_tokens').where({ environment_id: id }).orderBy('id').forUpdate().select('id');
  await tx('pipelines').where({ environment_id: id }).orderBy('id').forUpdate().select('id');
  return (await tx('environments').where({ id }).forUpdate().first('id')) !== undefined;
}

/**
 * Deletes the environment and everything in it; log lines are dropped with their day partition. The caller must have locked it.
 */
export async function deleteEnvironment(tx: Knex, id: string): Promise<{ pipelines: number; nodes: number }> {
  const { rows } = await tx.raw<{ rows: { pipelines: number; nodes: number }[] }>(
    `SELECT (SELECT count(*) FROM pipelines WHERE environment_id = :id AND tombstoned_at IS NULL) AS pipelines,
       (SELECT count(*) FROM nodes WHERE environment_id = :id) AS nodes`,
    { id },
  );
  await tx.raw('DELETE FROM node_pipelines s USING nodes n WHERE n.id = s.node_id AND n.environment_id = ?', [
    id,
  ]);
  await tx('environments').where({ id }).delete();
  return rows[0] ?? { pipelines: 0, nodes: 0 };
}

export interface EndedPromotion {
  id: string;
  targetEnvironmentId: string;
}

/**
 * Detaches promotions into other environments: they keep the name of this one. Cancels the waiting ones with the note, except
 * those whose pull request was merged and is being rolled out. The caller has locked the environment and deletes it afterwards.
 */
export async function detachPromotions(
  tx: Knex,
  { id, name }: { id: string; name: string },
  note: string,
): Promise<EndedPromotion[]> {
  await tx('promotions').where({ source_environment_id: id }).update({ source_environment_name: name });
  return tx('promotions')
    .where({ source_environment_id: id })
    .whereNot({ target_environment_id: id })
    .whereIn('status', ['PENDING', 'AWAITING_PR_MERGE'])
    .whereRaw(
      "NOT EXISTS (SELECT 1 FROM pull_requests r WHERE r.id = promotions.pull_request_id AND r.state = 'merged')",
    )
    .update({ status: 'CANCELLED', note, last_error: null, decided_at: tx.fn.now(), updated_at: tx.fn.now() })
    .returning(['id', 'target_environment_id as targetEnvironmentId']);
}

function explainConflict(error: unknown, name: string): unknown {
  return brokeUnique(error, 'environments_name_unique')
    ? conflict(`An environment named "${name}" exists already in this team`)
    : error;
}
