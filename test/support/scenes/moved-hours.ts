/** Hours of metrics as rows, for what looks at a week of them. */
import type { TestDb } from '../harness/test-db.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What a pipeline moved in each hour; its sink `out` sent all of it. */
export interface Moved {
  bytesIn?: number;
  bytesOut?: number;
  eventsIn?: number;
  errors?: number;
  /** Hours, the last of which goes on. A week unless it says so. */
  hours?: number;
  sink?: string;
}

/** In the place of what the pipeline moved before. It was deployed ten days ago. */
export async function moveHours(
  db: TestDb,
  { environmentId, pipelineId }: { environmentId: string; pipelineId: string },
  moved: Moved,
): Promise<void> {
  const { bytesIn = 0, bytesOut = 0, eventsIn = 0, errors = 0, hours = 168, sink = 'out' } = moved;
  await db('pipeline_hours').where({ pipeline_id: pipelineId }).delete();
  await db('sink_hours').where({ pipeline_id: pipelineId }).delete();
  const last = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const rows = Array.from({ length: hours }, (_, n) => ({
    ...{ environment_id: environmentId, pipeline_id: pipelineId, hour: new Date(last - n * HOUR_MS) },
    ...{ seconds: 3_600, nodes: 60, events_in: eventsIn, events_out: eventsIn, bytes_in: bytesIn },
    ...{ bytes_out: bytesOut, errors, discarded: 0, exits: 0, latency_sum: 0, latency_count: 0 },
  }));
  await db('pipeline_hours').insert(rows);
  await db('sink_hours').insert(rows.map((row) => ({ ...row, component_id: sink })));
  await db('pipelines')
    .where({ id: pipelineId })
    .update({ deployed_at: new Date(Date.now() - 10 * DAY_MS) });
}
