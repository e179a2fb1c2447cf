/** Reads what a pass compares: pipelines with their last deploy and nodes, deploys, and values by the hour. */
import type { Knex } from 'knex';
import type { AnomalyMetric } from '../../../schemas/api/insight/anomalies.ts';

export interface ComparedPipeline {
  pipelineId: string;
  environmentId: string;
  /** The last one. */
  deploy: { at: Date; version: number; commit: string | null } | null;
  /** Nodes that reported it within the last day, and how many of them are in maintenance. */
  nodes: number;
  nodesInMaintenance: number;
}

interface PipelineRow extends Omit<ComparedPipeline, 'deploy'> {
  deployedAt: Date | null;
  version: number | null;
  commit: string | null;
}

/** Deployed ones in the order of their ids, after one of them. */
export async function listCompared(
  db: Knex,
  { after, reportedSince, limit }: { after: string; reportedSince: Date; limit: number },
): Promise<ComparedPipeline[]> {
  const { rows } = await db.raw<{ rows: PipelineRow[] }>(
    `SELECT p.id AS "pipelineId", p.environment_id AS "environmentId", d.deployed_at AS "deployedAt", d.version,
       d.commit_sha AS commit, n.nodes, n.resting AS "nodesInMaintenance"
     FROM (SELECT id, environment_id FROM pipelines WHERE tombstoned_at IS NULL AND deployed_version_id IS NOT NULL
         AND id > :after ORDER BY id LIMIT :limit) p
     LEFT JOIN LATERAL (SELECT deployed_at, version, commit_sha FROM pipeline_deploys
       WHERE pipeline_id = p.id ORDER BY deployed_at DESC LIMIT 1) d ON true
     CROSS JOIN LATERAL (SELECT count(*)::int AS nodes, (count(*) FILTER (WHERE n.maintenance))::int AS resting
       FROM series_readings r JOIN nodes n ON n.id = r.node_id
       WHERE r.pipeline_id = p.id AND r.read_at > :reportedSince) n
     ORDER BY p.id`,
    { after, reportedSince, limit },
  );
  return rows.map(({ deployedAt, version, commit, ...row }) => ({
    ...row,
    deploy: deployedAt && version !== null ? { at: deployedAt, version, commit } : null,
  }));
}

/** Times of deploys since then, oldest first, by pipeline. */
export async function listDeployTimes(
  db: Knex,
  pipelineIds: readonly string[],
  since: Date,
): Promise<Map<string, number[]>> {
  const { rows } = await db.raw<{ rows: { id: string; at: number[] }[] }>(
    `SELECT pipeline_id AS id, json_agg(round(extract(epoch FROM deployed_at) * 1000) ORDER BY deployed_at) AS at
     FROM pipeline_deploys WHERE pipeline_id = ANY (:pipelineIds) AND deployed_at >= :since GROUP BY 1`,
    { pipelineIds: [...pipelineIds], since },
  );
  return new Map(rows.map(({ id, at }) => [id, at]));
}

export type HourValues = Record<AnomalyMetric, (number | null)[]>;

/** Counted for less than half an hour: the rate of such an hour says little. */
const MIN_SECONDS = 1_800;

/** Rates per second and mean latencies of whole hours, by pipeline, the oldest first. */
export async function readHours(
  db: Knex,
  pipelineIds: readonly string[],
  { from, hours }: { from: number; hours: number },
): Promise<Map<string, HourValues>> {
  const { rows } = await db.raw<{
    rows: { id: string; points: [number, number, number, number | null][] }[];
  }>(
    `SELECT pipeline_id AS id, json_agg(json_build_array((extract(epoch FROM hour) - :fromSeconds) / 3600,
       events_in / 3600, errors / 3600, latency_sum / nullif(latency_count, 0))) AS points
     FROM pipeline_hours WHERE pipeline_id = ANY (:pipelineIds) AND hour >= :from AND hour < :to
       AND seconds >= ${MIN_SECONDS} GROUP BY 1`,
    {
      ...{ pipelineIds: [...pipelineIds], fromSeconds: from / 1_000, from: new Date(from) },
      to: new Date(from + hours * 3_600_000),
    },
  );
  return new Map(rows.map(({ id, points }) => [id, valuesOf(points, hours)]));
}

function valuesOf(points: readonly [number, number, number, number | null][], hours: number): HourValues {
  const empty = (): (number | null)[] => new Array(hours).fill(null);
  const values: HourValues = { eventsIn: empty(), errors: empty(), latency: empty() };
  for (const [hour, eventsIn, errors, latency] of points) {
    values.eventsIn[hour] = eventsIn;
    values.errors[hour] = errors;
    values.latency[hour] = latency;
  }
  return values;
}
