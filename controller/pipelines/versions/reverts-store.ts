/** Nodes that are served the version before; who is, is decided from heartbeats (controller/fleet/reverts). */
import type { Knex } from 'knex';

/** Of one pipeline, on one node or on all; answers the nodes that get the refused version again. */
export async function deleteReverts(tx: Knex, pipelineId: string, nodeId: string | null): Promise<string[]> {
  const deleted: { node_id: string }[] = await tx('node_reverts')
    .where({ pipeline_id: pipelineId, ...(nodeId === null ? {} : { node_id: nodeId }) })
    .delete()
    .returning('node_id');
  const nodeIds = deleted.map((row) => row.node_id).sort();
  if (nodeIds.length > 0) {
    await tx('nodes').whereIn('id', nodeIds).increment('config_revision', 1);
    // Its starts are counted anew, and what its engine refused it is asked again.
    await tx('node_pipelines')
      .where({ pipeline_id: pipelineId })
      .whereIn('node_id', nodeIds)
      .update({ refused: null, crashes: 0 });
  }
  return nodeIds;
}
