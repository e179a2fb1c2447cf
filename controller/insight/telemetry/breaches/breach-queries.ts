/** Breaches of minutes that Postgres keeps, packed or not. */
import type { Knex } from 'knex';
import type { AlertMetric } from '../../../../schemas/manifests/alert-rule.ts';
import { minutesOf } from '../minutes/packing-store.ts';
import { type Breaches, type BreachQuery, MAX_BREACHES, SILENT_MINUTES } from './breach.ts';

const HOSTS = 'm.node_id = ANY(:nodeIds)';
const PIPELINES = 'm.pipeline_id = ANY(:pipelineIds)';
const rate = (column: string) => `m.${column} * m.nodes / nullif(m.seconds, 0)`;
const share = (used: string, total: string) => `100 * m.${used} / nullif(m.${total}, 0)`;
const ofHosts = (value: string, columns: string[]) => ({
  from: minutesOf('node_minutes', HOSTS, columns),
  ...{ node: 'm.node_id', pipeline: 'NULL::text', value },
});
const ofPipelines = (column: string) => ({
  from: minutesOf('pipeline_minutes', PIPELINES, [column, 'nodes', 'seconds']),
  ...{ node: 'NULL::text', pipeline: 'm.pipeline_id', value: rate(column) },
});

/** Rows `m`, one per series and minute. */
const SOURCES: Readonly<
  Record<AlertMetric, { from: string; node: string; pipeline: string; value: string }>
> = {
  cpu_usage: ofHosts('m.cpu_percent', ['cpu_percent']),
  memory_usage: ofHosts(share('memory_used_bytes', 'memory_total_bytes'), [
    ...['memory_used_bytes', 'memory_total_bytes'],
  ]),
  disk_usage: ofHosts(share('fs_used_bytes', 'fs_total_bytes'), ['fs_used_bytes', 'fs_total_bytes']),
  error_rate: ofPipelines('errors'),
  discarded_rate: ofPipelines('discarded'),
  pipeline_crashed: {
    from: minutesOf('node_pipeline_minutes', `${HOSTS} AND ${PIPELINES}`, ['exits']),
    ...{ node: 'm.node_id', pipeline: 'm.pipeline_id', value: 'CASE WHEN m.exits > 0 THEN 1 ELSE 0 END' },
  },
  node_unreachable: ofHosts('0', ['memory_total_bytes']),
};
const SIGNS = { gt: '>', lt: '<', eq: '=' } as const;

interface Row {
  series: number;
  nodeId: string | null;
  pipelineId: string | null;
  from: Date | null;
  to: Date | null;
  peak: number | null;
}

export async function readBreaches(db: Knex, query: BreachQuery): Promise<Breaches> {
  const { from, node, pipeline, value } = SOURCES[query.metric];
  const { rows } = await db.raw<{ rows: Row[] }>(
    `WITH points AS (SELECT * FROM (
         SELECT ${node} AS node, ${pipeline} AS pipeline, m.minute, ${value} AS value FROM ${from} m
       ) every WHERE value IS NOT NULL),
     known AS (SELECT count(*)::int AS series FROM (SELECT DISTINCT node, pipeline FROM points) each),
     breaches AS (${query.metric === 'node_unreachable' ? GAPS : islands(query)})
     SELECT k.series, s.node AS "nodeId", s.pipeline AS "pipelineId", s.since AS "from", s.until AS "to", s.peak
     FROM known k LEFT JOIN (SELECT * FROM breaches ORDER BY since DESC LIMIT ${MAX_BREACHES}) s ON true`,
    {
      ...{ nodeIds: [...query.nodeIds], pipelineIds: [...query.pipelineIds], threshold: query.threshold },
      ...{ from: new Date(query.from), to: new Date(query.to), minutes: query.minutes },
    },
  );
  return {
    series: rows[0]?.series ?? 0,
    breaches: rows.flatMap(({ nodeId, pipelineId, from, to, peak }) =>
      from && to ? [{ nodeId, pipelineId, from: from.getTime(), to: to.getTime(), peak }] : [],
    ),
  };
}

/** Minutes in a row that meet the condition. */
const islands = ({ condition }: BreachQuery): string => `
  SELECT node, pipeline, min(minute) AS since, max(minute) + interval '1 minute' AS until,
    ${condition === 'lt' ? 'min' : 'max'}(value) AS peak
  FROM (SELECT *, minute - row_number() OVER (PARTITION BY node, pipeline ORDER BY minute) * interval '1 minute' AS island
    FROM points WHERE value ${SIGNS[condition]} :threshold) met
  GROUP BY node, pipeline, island HAVING count(*) >= :minutes`;

/** Minutes in a row without a point, after the first one. */
const GAPS = `
  SELECT node, pipeline, minute + interval '1 minute' AS since, next AS until, 1 AS peak
  FROM (SELECT node, pipeline, minute,
      coalesce(lead(minute) OVER (PARTITION BY node ORDER BY minute), :to::timestamptz) AS next FROM points) pairs
  WHERE next - minute > greatest(:minutes, ${SILENT_MINUTES}) * interval '1 minute'`;
