/** Compares what the database holds with what the nodes have sent. */
import type { TestDb } from '../support/harness/test-db.ts';
import type { BenchNode } from './fleet.ts';
import { COUNTER_BASE } from './requests.ts';

/**
 * How many of the pipelines' rows do not hold the counter of the node's last heartbeat. `sequenceOf` tells it by the
 * node's index; 0 is a node that has sent none, and must have no row.
 */
export async function storedOtherwise(
  db: TestDb,
  nodes: readonly BenchNode[],
  sequenceOf: (index: number) => number,
): Promise<number> {
  const { rows } = await db.raw<{ rows: { node: string; pipeline: string; counter: number }[] }>(
    'SELECT node_id AS node, pipeline_id AS pipeline, events_in AS counter FROM node_pipelines',
  );
  const stored = new Map(rows.map((row) => [`${row.node} ${row.pipeline}`, row.counter]));
  let differences = 0;
  for (const [index, node] of nodes.entries()) {
    const sequence = sequenceOf(index);
    const wanted = sequence === 0 ? undefined : COUNTER_BASE + sequence;
    for (const pipelineId of node.environment.pipelineIds) {
      if (stored.get(`${node.id} ${pipelineId}`) !== wanted) differences += 1;
    }
  }
  return differences;
}

/** The sum of the counters of all rows, which tells whether everything sent has been written. */
export async function storedSum(db: TestDb): Promise<number> {
  const { rows } = await db.raw<{ rows: { stored: number | null }[] }>(
    'SELECT sum(events_in) / 5 AS stored FROM node_pipelines',
  );
  return rows[0]?.stored ?? 0;
}
