/** Reads the counters of all engines of an environment. */
import type { Knex } from 'knex';

export interface EngineCounters {
  nodeId: string;
  pipelineId: string;
  eventsIn: number;
  eventsOut: number;
  errors: number;
  discarded: number;
  bytesIn: number;
  bytesOut: number;
  utilization: number | null;
  latencyMs: number | null;
}

/** Reading a page blocks the event loop some milliseconds. */
const PAGE = 1_000;

/** By node and pipeline. Archived nodes are left out. */
export async function readCounters(db: Knex, environmentId: string): Promise<EngineCounters[]> {
  const found: EngineCounters[] = [];
  for (;;) {
    const last = found.at(-1);
    const { rows } = await db.raw<{ rows: EngineCounters[] }>(
      `SELECT s.node_id AS "nodeId", s.pipeline_id AS "pipelineId", s.events_in AS "eventsIn", s.events_out AS "eventsOut",
         s.errors_total AS errors, s.events_discarded AS discarded, s.bytes_in AS "bytesIn", s.bytes_out AS "bytesOut",
         s.utilization, s.latency_ms AS "latencyMs"
       FROM nodes n JOIN node_pipelines s ON s.node_id = n.id JOIN pipelines p ON p.id = s.pipeline_id
       WHERE n.environment_id = :environmentId AND n.archived_at IS NULL AND p.tombstoned_at IS NULL
         AND (s.node_id, s.pipeline_id) > (:nodeId, :pipelineId)
       ORDER BY s.node_id, s.pipeline_id LIMIT ${PAGE}`,
      { environmentId, nodeId: last?.nodeId ?? '', pipelineId: last?.pipelineId ?? '' },
    );
    found.push(...rows);
    if (rows.length < PAGE) return found;
  }
}
