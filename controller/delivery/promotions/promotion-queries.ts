/** Promotions joined with the names of both environments and the state of their pull requests. */
import type { Knex } from 'knex';
import type { Promotion, PromotionStatus } from '../../../schemas/api/delivery/promotions.ts';
import type { ForgeName } from '../../../schemas/api/delivery/pull-requests.ts';

export interface PromotionRow extends Omit<Promotion, 'pullRequest'> {
  /** Null once the source was deleted. */
  sourceTeamId: string | null;
  targetTeamId: string;
  pullNumber: number | null;
  pullState: 'open' | 'merged' | 'closed';
  pullForge: ForgeName;
  pullUrl: string | null;
  checkState: 'pending' | 'success' | 'failure' | 'error' | null;
  checkSummary: string | null;
}

const SELECT = `SELECT o.id, o.status, o.pipeline_id AS "pipelineId", o.pipeline_name AS "pipelineName",
    o.source_environment_id AS "sourceEnvironmentId", COALESCE(s.name, o.source_environment_name) AS "sourceEnvironmentName", s.team_id AS "sourceTeamId",
    o.target_environment_id AS "targetEnvironmentId", t.name AS "targetEnvironmentName", t.team_id AS "targetTeamId",
    o.target_pipeline_id AS "targetPipelineId", o.target_name AS "targetName", o.source_version AS "sourceVersion",
    o.target_version AS "targetVersion", o.requested_by AS "requestedBy", o.requested_by_id AS "requestedById",
    o.decided_by AS "decidedBy", o.note, o.last_error AS "lastError", o.created_at AS "createdAt",
    o.decided_at AS "decidedAt", o.deployed_at AS "deployedAt", o.silent_nodes AS "silentNodes",
    r.number AS "pullNumber", r.state AS "pullState", r.forge AS "pullForge", r.url AS "pullUrl",
    c.state AS "checkState", c.summary AS "checkSummary"
  FROM promotions o LEFT JOIN environments s ON s.id = o.source_environment_id JOIN environments t ON t.id = o.target_environment_id
  LEFT JOIN pull_requests r ON r.id = o.pull_request_id
  LEFT JOIN pull_request_checks c
    ON c.pull_request_id = r.id AND c.environment_id = o.target_environment_id AND c.head_sha = r.head_sha`;

export async function findPromotionRow(db: Knex, id: string): Promise<PromotionRow | null> {
  const { rows } = await db.raw<{ rows: PromotionRow[] }>(`${SELECT} WHERE o.id = ?`, [id]);
  return rows[0] ?? null;
}

/** Promotions from or to a pipeline. Newest first. */
export async function listPipelinePromotions(
  db: Knex,
  pipelineId: string,
  limit: number,
): Promise<PromotionRow[]> {
  const { rows } = await db.raw<{ rows: PromotionRow[] }>(
    `${SELECT} WHERE o.pipeline_id = :pipelineId OR o.target_pipeline_id = :pipelineId
     ORDER BY o.created_at DESC, o.id DESC LIMIT :limit`,
    { pipelineId, limit },
  );
  return rows;
}

/** Promotions into or out of an environment. Newest first. */
export async function listEnvironmentPromotions(
  db: Knex,
  environmentId: string,
  { status = null, limit }: { status?: PromotionStatus | null | undefined; limit: number },
): Promise<PromotionRow[]> {
  const { rows } = await db.raw<{ rows: PromotionRow[] }>(
    `${SELECT} WHERE (o.source_environment_id = :environmentId OR o.target_environment_id = :environmentId)
       AND (:status::text IS NULL OR o.status = :status)
     ORDER BY o.created_at DESC, o.id DESC LIMIT :limit`,
    { environmentId, status, limit },
  );
  return rows;
}

/** Environments of the team that have a pipeline of the same name, or to which the pipeline was promoted. At most 20. */
export async function listTargetEnvironments(db: Knex, pipelineId: string): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `SELECT e.id FROM pipelines p JOIN environments h ON h.id = p.environment_id JOIN environments e ON e.team_id = h.team_id
     WHERE p.id = :pipelineId AND e.id <> h.id AND (
       EXISTS (SELECT 1 FROM pipelines n WHERE n.environment_id = e.id AND lower(n.name) = lower(p.name) AND n.tombstoned_at IS NULL)
       OR EXISTS (SELECT 1 FROM promotions o WHERE o.pipeline_id = p.id AND o.target_environment_id = e.id))
     ORDER BY lower(e.name), e.id LIMIT 20`,
    { pipelineId },
  );
  return rows.map(({ id }) => id);
}

/** A pipeline by its name, which is not case-sensitive. Tombstones are left out. */
export async function findPipelineByName(
  db: Knex,
  environmentId: string,
  name: string,
): Promise<{ id: string; name: string; managedBy: 'ui' | 'git' } | null> {
  const row = await db('pipelines')
    .where({ environment_id: environmentId, tombstoned_at: null })
    .whereRaw('lower(name) = lower(?)', [name])
    .first({ id: 'id', name: 'name', managedBy: 'managed_by' });
  return row ?? null;
}
