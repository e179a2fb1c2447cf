/** Which rows are read: of whole environments, of one pipeline, of some nodes. */

export interface ReadFilter {
  environmentIds: readonly string[];
  /** Null for all pipelines. */
  pipelineId: string | null;
  /** Null for all nodes that are not archived. */
  nodeIds: readonly string[] | null;
  /** Reads archived nodes instead of active ones. */
  archived?: boolean;
}

export const NODE_FILTER = `CASE WHEN :nodeIds::text[] IS NULL THEN (n.archived_at IS NOT NULL) = :archived
  ELSE n.id = ANY(:nodeIds) END`;

/** Values of the statements that `NODE_FILTER` is part of. */
export const filterBindings = ({ environmentIds, pipelineId, nodeIds, archived = false }: ReadFilter) => ({
  archived,
  environmentIds: [...environmentIds],
  pipelineId,
  nodeIds: nodeIds && [...nodeIds],
});
