/** Links of graphs that come from elsewhere, or from earlier: what they lead to may be gone. */
import type { Knex } from 'knex';
import type { GraphNode } from '../../../schemas/api/pipelines.ts';
import { lockSharedComponents } from './store.ts';

export const linkedIds = (nodes: readonly GraphNode[]): string[] =>
  nodes.flatMap(({ sharedComponentId }) => sharedComponentId ?? []);

export const unlinked = ({ sharedComponentId, sharedComponentVersion, ...node }: GraphNode): GraphNode =>
  node;

/** The nodes, without links to shared components that were deleted. */
export async function withLiveLinks(
  tx: Knex,
  environmentId: string,
  nodes: readonly GraphNode[],
): Promise<GraphNode[]> {
  const there = await lockSharedComponents(tx, environmentId, linkedIds(nodes));
  return nodes.map((node) =>
    node.sharedComponentId === undefined || there.has(node.sharedComponentId) ? node : unlinked(node),
  );
}
