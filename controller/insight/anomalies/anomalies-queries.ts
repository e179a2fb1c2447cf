/** Reads anomalies for lists and badges. Those of deleted pipelines are not seen. */
import type { Knex } from 'knex';
import type { Anomaly, AnomalySeverity, ListAnomalies } from '../../../schemas/api/insight/anomalies.ts';

const SELECT = `SELECT a.id, a.environment_id AS "environmentId", a.pipeline_id AS "pipelineId", p.name AS "pipelineName",
    a.metric, a.direction, a.severity, a.value, a.expected_low AS "expectedLow", a.expected_high AS "expectedHigh", a.sigma,
    a.status, a.started_at AS "startedAt", a.last_seen_at AS "lastSeenAt", a.ended_at AS "endedAt", a.version,
    v.id AS "versionId", a.commit_sha AS "commit", a.deployed_at AS "deployedAt", a.decided_by AS "decidedBy",
    a.decided_at AS "decidedAt"
  FROM anomalies a JOIN pipelines p ON p.id = a.pipeline_id AND p.tombstoned_at IS NULL
  LEFT JOIN pipeline_versions v ON v.pipeline_id = a.pipeline_id AND v.version = a.version`;

/** The newest first, one more than asked for where there are more. */
export async function listAnomalies(
  db: Knex,
  { environmentId, pipelineId, status, cursor }: ListAnomalies,
  limit: number,
): Promise<Anomaly[]> {
  const { rows } = await db.raw<{ rows: Anomaly[] }>(
    `${SELECT} WHERE a.environment_id = :environmentId AND (:pipelineId::text IS NULL OR a.pipeline_id = :pipelineId)
       AND (:status::text IS NULL OR a.status = :status) AND (:cursor::text IS NULL OR a.id < :cursor)
     ORDER BY a.id DESC LIMIT :limit`,
    {
      ...{ environmentId, limit },
      ...{ pipelineId: pipelineId ?? null, status: status ?? null, cursor: cursor ?? null },
    },
  );
  return rows;
}

export async function findAnomaly(db: Knex, environmentId: string, id: string): Promise<Anomaly | null> {
  const { rows } = await db.raw<{ rows: Anomaly[] }>(`${SELECT} WHERE a.environment_id = ? AND a.id = ?`, [
    environmentId,
    id,
  ]);
  return rows[0] ?? null;
}

export interface OpenAnomalies {
  pipelineId: string;
  count: number;
  severity: AnomalySeverity;
}

/** Of each pipeline that has open ones, how many and the worst severity. */
export async function countOpen(db: Knex, environmentId: string): Promise<OpenAnomalies[]> {
  const { rows } = await db.raw<{ rows: OpenAnomalies[] }>(
    `SELECT a.pipeline_id AS "pipelineId", count(*)::int AS count,
       CASE WHEN bool_or(a.severity = 'critical') THEN 'critical' WHEN bool_or(a.severity = 'warning') THEN 'warning'
         ELSE 'info' END AS severity
     FROM anomalies a JOIN pipelines p ON p.id = a.pipeline_id AND p.tombstoned_at IS NULL
     WHERE a.environment_id = ? AND a.status = 'open' GROUP BY 1`,
    [environmentId],
  );
  return rows;
}
