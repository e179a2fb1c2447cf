/** Compares what the database holds with what the nodes have sent. */
import type { TestDb } from '../support/harness/test-db.ts';
import type { BenchNode } from './fleet.ts';
import { RESTARTS_BASE } from './requests.ts';

/**
 * How many of the pipelines' rows do not hold the restarts, which are state, of the node's last heartbeat. `restartsOf` tells
 * them by the node's index; undefined for a node that has sent none, and must have no row.
 */
export async function storedOtherwise(
  db: TestDb,
  nodes: readonly BenchNode[],
  restartsOf: (index: number) => number | undefined,
): Promise<number> {
  const { rows } = await db.raw<{ rows: { node: string; pipeline: string; restarts: number }[] }>(
    'SELECT node_id AS node, pipeline_id AS pipeline, restarts FROM node_pipelines',
  );
  const stored = new Map(rows.map((row) => [`${row.node} ${row.pipeline}`, row.restarts]));
  let differences = 0;
  for (const [index, node] of nodes.entries()) {
    const restarts = restartsOf(index);
    const wanted = restarts === undefined ? undefined : RESTARTS_BASE + restarts;
    for (const pipelineId of node.environment.pipelineIds) {
      if (stored.get(`${node.id} ${pipelineId}`) !== wanted) differences += 1;
    }
  }
  return differences;
}
