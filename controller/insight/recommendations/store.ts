/** Stores recommendations. One is pending for each pipeline and type. */
import type { Knex } from 'knex';
import type {
  RecommendationFigures,
  RecommendationStatus,
  RecommendationType,
  RecommendedChange,
} from '../../../schemas/api/insight/cost-recommendations.ts';
import { rowsOf } from '../../database/unnest.ts';
import { newId } from '../../platform/operation/ids.ts';
import type { Finding } from './rules.ts';

/** What users dismissed or applied is not recommended again for this long. */
export const QUIET_DAYS = 30;
const DAY_MS = 86_400_000;

export interface RecommendationRecord {
  id: string;
  environmentId: string;
  pipelineId: string;
  pipelineName: string;
  managedBy: 'ui' | 'git';
  type: RecommendationType;
  status: RecommendationStatus;
  figures: RecommendationFigures;
  change: RecommendedChange | null;
  savedBytesPerMonth: number | null;
  pricePerGb: number | null;
  pullRequest: { number: number; url: string | null; state: 'open' | 'merged' | 'closed' } | null;
  appliedVersion: number | null;
  createdAt: Date;
  analyzedAt: Date;
  resolvedAt: Date | null;
  resolvedBy: string | null;
}

const SELECT = `SELECT r.id, r.environment_id AS "environmentId", r.pipeline_id AS "pipelineId", p.name AS "pipelineName",
    p.managed_by AS "managedBy", r.type, r.status, r.figures, r.change, r.saved_bytes_per_month AS "savedBytesPerMonth",
    e.price_per_gb AS "pricePerGb", r.applied_version AS "appliedVersion", r.created_at AS "createdAt",
    r.analyzed_at AS "analyzedAt", r.resolved_at AS "resolvedAt", r.resolved_by AS "resolvedBy",
    CASE WHEN q.id IS NULL THEN NULL
      ELSE jsonb_build_object('number', q.number, 'url', q.url, 'state', q.state) END AS "pullRequest"
  FROM cost_recommendations r JOIN pipelines p ON p.id = r.pipeline_id AND p.tombstoned_at IS NULL
  JOIN environments e ON e.id = r.environment_id LEFT JOIN pull_requests q ON q.id = r.pull_request_id
  WHERE r.environment_id = :environmentId`;

export async function listRecommendations(
  db: Knex,
  environmentId: string,
  { status = null, limit }: { status?: RecommendationStatus | null; limit: number },
): Promise<{ recommendations: RecommendationRecord[]; total: number }> {
  const { rows } = await db.raw<{ rows: (RecommendationRecord & { total: number })[] }>(
    `SELECT s.*, count(*) OVER ()::int AS total FROM (${SELECT} AND (:status::text IS NULL OR r.status = :status)) s
     ORDER BY (s.status = 'PENDING') DESC, s."savedBytesPerMonth" DESC NULLS LAST, s."createdAt" DESC, s.id LIMIT :limit`,
    { environmentId, status, limit },
  );
  return { total: rows[0]?.total ?? 0, recommendations: rows.map(({ total, ...row }) => row) };
}

export async function findRecommendation(
  db: Knex,
  environmentId: string,
  id: string,
): Promise<RecommendationRecord | null> {
  const { rows } = await db.raw<{ rows: RecommendationRecord[] }>(`${SELECT} AND r.id = :id`, {
    environmentId,
    id,
  });
  return rows[0] ?? null;
}

/** Locks the row until the transaction ends; null where it is gone. */
export async function lockRecommendation(
  tx: Knex,
  environmentId: string,
  id: string,
): Promise<RecommendationRecord | null> {
  await tx('cost_recommendations').where({ id, environment_id: environmentId }).forUpdate().first('id');
  return findRecommendation(tx, environmentId, id);
}

export interface Resolution {
  status: 'DISMISSED' | 'APPLIED';
  at: Date;
  by: string;
  appliedVersion?: number;
}

export async function resolveRecommendation(
  tx: Knex,
  id: string,
  { status, at, by, appliedVersion }: Resolution,
): Promise<void> {
  await tx('cost_recommendations')
    .where({ id })
    .update({ status, resolved_at: at, resolved_by: by, applied_version: appliedVersion ?? null });
}

export async function linkPullRequest(tx: Knex, id: string, pullRequestId: string): Promise<void> {
  await tx('cost_recommendations').where({ id }).update({ pull_request_id: pullRequestId });
}

export interface Counted {
  type: RecommendationType;
  status: RecommendationStatus;
  count: number;
}

export async function summarize(db: Knex, environmentId: string) {
  const { rows: counts } = await db.raw<{ rows: Counted[] }>(
    `SELECT r.type, r.status, count(*)::int AS count FROM cost_recommendations r
     JOIN pipelines p ON p.id = r.pipeline_id AND p.tombstoned_at IS NULL WHERE r.environment_id = ? GROUP BY 1, 2`,
    [environmentId],
  );
  // Two about one pipeline may count the same bytes.
  const { rows } = await db.raw<{
    rows: { savedBytesPerMonth: number; pricePerGb: number | null; analyzedAt: Date | null }[];
  }>(
    `SELECT e.price_per_gb AS "pricePerGb", e.costs_analyzed_at AS "analyzedAt",
       coalesce((SELECT sum(s.bytes) FROM (SELECT max(r.saved_bytes_per_month) AS bytes FROM cost_recommendations r
         JOIN pipelines p ON p.id = r.pipeline_id AND p.tombstoned_at IS NULL
         WHERE r.environment_id = e.id AND r.status = 'PENDING' GROUP BY r.pipeline_id) s), 0) AS "savedBytesPerMonth"
     FROM environments e WHERE e.id = ?`,
    [environmentId],
  );
  const countOf = (status: RecommendationStatus, type?: RecommendationType) =>
    counts
      .filter((one) => one.status === status && (type === undefined || one.type === type))
      .reduce((sum, { count }) => sum + count, 0);
  const [totals] = rows;
  return { countOf, ...(totals ?? { savedBytesPerMonth: 0, pricePerGb: null, analyzedAt: null }) };
}

export type FoundIn = Finding & { pipelineId: string };

/**
 * Makes what is pending equal what was found. A pending one that no longer holds is deleted, unless its pull request is open, or
 * merged and not recorded yet; what was resolved less than 30 days ago is left alone.
 */
export async function replacePending(
  tx: Knex,
  environmentId: string,
  found: readonly FoundIn[],
  now: Date,
): Promise<{ created: number; updated: number; removed: number }> {
  const quietSince = new Date(now.getTime() - QUIET_DAYS * DAY_MS);
  const column = <T>(pick: (one: FoundIn) => T) => found.map(pick);
  const batch = rowsOf([
    ['id', 'text', column(() => newId())],
    ['pipeline_id', 'text', column(({ pipelineId }) => pipelineId)],
    ['type', 'text', column(({ type }) => type)],
    ['figures', 'jsonb', column(({ figures }) => JSON.stringify(figures))],
    ['change', 'jsonb', column(({ change }) => change && JSON.stringify(change))],
    ['saved_bytes_per_month', 'double precision', column((one) => one.savedBytesPerMonth)],
  ]);
  // A pipeline may have been deleted since it was read.
  const { rows } = await tx.raw<{ rows: { created: boolean }[] }>(
    `INSERT INTO cost_recommendations AS r (${batch.names}, environment_id, created_at, analyzed_at)
     SELECT ${batch.picked}, p.environment_id, ?, ? FROM ${batch.source}
     JOIN pipelines p ON p.id = b.pipeline_id AND p.tombstoned_at IS NULL AND p.environment_id = ?
     WHERE NOT EXISTS (SELECT 1 FROM cost_recommendations q WHERE q.pipeline_id = b.pipeline_id AND q.type = b.type
       AND q.resolved_at > ?)
     ORDER BY b.pipeline_id, b.type
     ON CONFLICT (pipeline_id, type) WHERE status = 'PENDING' DO UPDATE SET figures = excluded.figures,
       change = excluded.change, saved_bytes_per_month = excluded.saved_bytes_per_month, analyzed_at = excluded.analyzed_at
     RETURNING xmax = 0 AS created`,
    [now, now, ...batch.values, environmentId, quietSince],
  );
  const { rowCount: removed } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM cost_recommendations r WHERE r.environment_id = ? AND r.status = 'PENDING'
       AND (r.pipeline_id, r.type) NOT IN (SELECT b.pipeline_id, b.type FROM ${batch.source})
       AND NOT EXISTS (SELECT 1 FROM pull_requests q WHERE q.id = r.pull_request_id AND q.state IN ('open', 'merged'))`,
    [environmentId, ...batch.values],
  );
  await tx('environments').where({ id: environmentId }).update({ costs_analyzed_at: now });
  const created = rows.filter((row) => row.created).length;
  return { created, updated: rows.length - created, removed };
}

/** Environments that were not analyzed since, the longest ago first. */
export async function listDueEnvironments(db: Knex, analyzedBefore: Date): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `SELECT id FROM environments WHERE costs_analyzed_at IS NULL OR costs_analyzed_at < ?
     ORDER BY costs_analyzed_at NULLS FIRST, id`,
    [analyzedBefore],
  );
  return rows.map(({ id }) => id);
}

interface Merged {
  id: string;
  environmentId: string;
  /** Null where nobody knows, as after a push. */
  mergedBy: string | null;
}

/** Pending ones whose pull request was merged. */
export async function listMerged(db: Knex, limit: number): Promise<Merged[]> {
  const { rows } = await db.raw<{ rows: Merged[] }>(
    `SELECT r.id, r.environment_id AS "environmentId", left(q.merged_by, 200) AS "mergedBy" FROM cost_recommendations r
     JOIN pull_requests q ON q.id = r.pull_request_id
     JOIN pipelines p ON p.id = r.pipeline_id AND p.tombstoned_at IS NULL
     WHERE r.status = 'PENDING' AND q.state = 'merged' ORDER BY r.id LIMIT ?`,
    [limit],
  );
  return rows;
}

export async function deleteResolvedBefore(tx: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `DELETE FROM cost_recommendations WHERE id IN (SELECT id FROM cost_recommendations WHERE resolved_at < ? LIMIT ?)`,
    [before, limit],
  );
  return rowCount;
}
