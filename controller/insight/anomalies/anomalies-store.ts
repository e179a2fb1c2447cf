/** Writes anomalies: those that a pass has found, what people decide about them, and their end. */
import type { Knex } from 'knex';
import type { AnomalyStatus } from '../../../schemas/api/insight/anomalies.ts';
import { type Column, rowsOf } from '../../database/unnest.ts';
import { newId } from '../../platform/operation/ids.ts';
import type { Deviation } from './detection/evaluate.ts';

export interface FoundAnomaly extends Deviation {
  environmentId: string;
  pipelineId: string;
  deploy: { at: Date; version: number; commit: string | null } | null;
}

/** The order of severities; a comparison of texts would not know it. */
const RANK = (severity: string) => `array_position(ARRAY['info', 'warning', 'critical'], ${severity})`;

const columnsOf = (found: readonly FoundAnomaly[]): Column[] => [
  ['id', 'text', found.map(() => newId())],
  ['environment_id', 'text', found.map(({ environmentId }) => environmentId)],
  ['pipeline_id', 'text', found.map(({ pipelineId }) => pipelineId)],
  ['metric', 'text', found.map(({ metric }) => metric)],
  ['direction', 'text', found.map(({ direction }) => direction)],
  ['severity', 'text', found.map(({ severity }) => severity)],
  ['value', 'double precision', found.map(({ value }) => value)],
  ['expected_low', 'double precision', found.map(({ expected }) => expected.low)],
  ['expected_high', 'double precision', found.map(({ expected }) => expected.high)],
  ['sigma', 'double precision', found.map(({ sigma }) => sigma)],
  ['version', 'integer', found.map(({ deploy }) => deploy?.version ?? null)],
  ['commit_sha', 'text', found.map(({ deploy }) => deploy?.commit ?? null)],
  ['deployed_at', 'timestamptz', found.map(({ deploy }) => deploy?.at ?? null)],
];

/**
 * Within the window an anomaly of the same pipeline, metric and direction is updated; after one that was dismissed there is none.
 * Answers the environments of those that are new, worse, or go on after an end.
 */
export async function saveFound(
  tx: Knex,
  found: readonly FoundAnomaly[],
  { now, since }: { now: Date; since: Date },
): Promise<string[]> {
  if (found.length === 0) return [];
  const { names, picked, source, values } = rowsOf(columnsOf(found));
  const { rows: updated } = await tx.raw<{ rows: { environmentId: string; isNews: boolean }[] }>(
    `WITH same AS (
       SELECT DISTINCT ON (b.id) b.*, a.id AS of, a.severity AS severity_before, a.ended_at AS ended_before
       FROM ${source} JOIN anomalies a ON a.pipeline_id = b.pipeline_id AND a.metric = b.metric
         AND a.direction = b.direction AND a.status <> 'dismissed' AND a.last_seen_at >= ?
       ORDER BY b.id, a.id DESC)
     UPDATE anomalies a SET last_seen_at = ?, ended_at = NULL,
       severity = CASE WHEN ${RANK('s.severity')} > ${RANK('a.severity')} THEN s.severity ELSE a.severity END,
       value = CASE WHEN s.sigma > a.sigma THEN s.value ELSE a.value END,
       expected_low = CASE WHEN s.sigma > a.sigma THEN s.expected_low ELSE a.expected_low END,
       expected_high = CASE WHEN s.sigma > a.sigma THEN s.expected_high ELSE a.expected_high END,
       sigma = greatest(a.sigma, s.sigma)
     FROM same s WHERE a.id = s.of
     RETURNING a.environment_id AS "environmentId",
       s.ended_before IS NOT NULL OR ${RANK('s.severity')} > ${RANK('s.severity_before')} AS "isNews"`,
    [...values, since, now],
  );
  const { rows: inserted } = await tx.raw<{ rows: { environmentId: string }[] }>(
    `INSERT INTO anomalies (${names}, started_at, last_seen_at)
     SELECT ${picked}, ?, ? FROM ${source} JOIN pipelines p ON p.id = b.pipeline_id
     WHERE NOT EXISTS (SELECT FROM anomalies a WHERE a.pipeline_id = b.pipeline_id AND a.metric = b.metric
       AND a.direction = b.direction AND (CASE a.status WHEN 'dismissed' THEN a.decided_at ELSE a.last_seen_at END) >= ?)
     RETURNING environment_id AS "environmentId"`,
    [now, now, ...values, since],
  );
  return [...updated.filter(({ isNews }) => isNews), ...inserted].map(({ environmentId }) => environmentId);
}

/** Those that no pass has seen since. Answers their environments. */
export async function endUnseen(tx: Knex, before: Date): Promise<string[]> {
  const { rows } = await tx.raw<{ rows: { environmentId: string }[] }>(
    `UPDATE anomalies SET ended_at = last_seen_at WHERE ended_at IS NULL AND last_seen_at < ?
     RETURNING environment_id AS "environmentId"`,
    [before],
  );
  return rows.map(({ environmentId }) => environmentId);
}

/** Until the transaction ends nobody else decides about it. Null where the environment does not have it. */
export async function lockAnomaly(
  tx: Knex,
  environmentId: string,
  id: string,
): Promise<{ status: AnomalyStatus } | null> {
  const row: { status: AnomalyStatus } | undefined = await tx('anomalies')
    .where({ id, environment_id: environmentId })
    .forUpdate()
    .first('status');
  return row ?? null;
}

export async function saveDecision(
  tx: Knex,
  id: string,
  { status, by, at }: { status: AnomalyStatus; by: string; at: Date },
): Promise<void> {
  await tx('anomalies').where({ id }).update({ status, decided_by: by, decided_at: at });
}

export async function deleteAnomaliesBefore(db: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `DELETE FROM anomalies WHERE ctid = ANY (ARRAY(SELECT ctid FROM anomalies WHERE started_at < ? LIMIT ?))`,
    [before, limit],
  );
  return rowCount;
}
