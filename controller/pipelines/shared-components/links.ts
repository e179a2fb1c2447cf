/** Links to shared components, in graphs that are copied or restored: the shared component may be deleted. */
import type { Knex } from 'knex';
import type { GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import { lockSharedComponents } from './store.ts';

export const linkedIds = (nodes: readonly GraphNode[]): string[] =>
  nodes.flatMap(({ sharedComponentId }) => sharedComponentId ?? []);

export const unlinked = ({ sharedComponentId, sharedComponentVersion, ...node }: GraphNode): GraphNode =>
  node;

/** Returns the nodes without links to deleted shared components. */
export async function withLiveLinks(
  tx: Knex,
  environmentId: string,
  nodes: readonly GraphNode[],
): Promise<GraphNode[]> {
  const existing = await lockSharedComponents(tx, environmentId, linkedIds(nodes));
  return nodes.map((node) =>
    node.sharedComponentId === undefined || existing.has(node.sharedComponentId) ? node : unlinked(node),
  );
}
