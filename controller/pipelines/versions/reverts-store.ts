/** Deletes reverts. Reverts are created from heartbeats in controller/fleet/config/reverts. */
import type { Knex } from 'knex';

/** Deletes the reverts of a pipeline on one node or on all. Returns the nodes, which get the refused version again. */
export async function deleteReverts(tx: Knex, pipelineId: string, nodeId: string | null): Promise<string[]> {
  const deleted: { node_id: string }[] = await tx('node_reverts')
    .where({ pipeline_id: pipelineId, ...(nodeId === null ? {} : { node_id: nodeId }) })
    .delete()
    .returning('node_id');
  const nodeIds = deleted.map((row) => row.node_id).sort();
  if (nodeIds.length > 0) {
    await tx('nodes').whereIn('id', nodeIds).increment('config_revision', 1);
    // Resets the count of crashes, and clears the refusal so that the engine is asked again.
    await tx('node_pipelines')
      .where({ pipeline_id: pipelineId })
      .whereIn('node_id', nodeIds)
      .update({ refused: null, crashes: 0 });
  }
  return nodeIds;
}
