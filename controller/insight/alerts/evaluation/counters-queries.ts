import type { Knex } from 'knex';
import type { CounterReading } from './counter-windows.ts';

const FIELD = '\x1f';
const RECORD = '\x1e';

/**
 * The stored counters of pipelines on nodes, in the order of `COUNTERS`; of all pipelines where `pipelineIds` is null. One text
 * per pipeline: the driver takes much longer for a row per node.
 */
export async function readCounters(
  db: Knex,
  environmentId: string,
  pipelineIds: readonly string[] | null,
): Promise<CounterReading[]> {
  const { rows } = await db.raw<{ rows: { pipelineId: string; readings: string }[] }>(
    `SELECT s.pipeline_id AS "pipelineId", string_agg(concat_ws(chr(31), s.node_id,
       (extract(epoch FROM s.reported_at) * 1000)::bigint,
       s.errors_total, s.events_discarded, s.restarts), chr(30)) AS readings
     FROM nodes n JOIN node_pipelines s ON s.node_id = n.id
     WHERE n.environment_id = :environmentId AND n.archived_at IS NULL AND (:all OR s.pipeline_id = ANY(:pipelineIds))
     GROUP BY s.pipeline_id`,
    { environmentId, all: pipelineIds === null, pipelineIds: [...(pipelineIds ?? [])] },
  );
  return rows.flatMap(({ pipelineId, readings }) =>
    readings.split(RECORD).map((record) => {
      const [nodeId = '', at, ...values] = record.split(FIELD);
      return { pipelineId, nodeId, at: Number(at), values: values.map(Number) };
    }),
  );
}
