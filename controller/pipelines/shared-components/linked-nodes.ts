/** Changes of the components of a pipeline that are linked, or were. */
import type { GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import { diffOf } from '../../platform/operation/audit-entry.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { assertGraphSize } from '../graph/graph.ts';
import { getPipeline } from '../lifecycle/lock-pipeline.ts';
import { publishPipelineChanges } from '../lifecycle/publish-change.ts';
import { type PipelineRecord, updatePipeline } from '../lifecycle/store.ts';
import type { StoredComponent } from './store.ts';

export const UNLINKED = 'component unlinked';

export async function replaceNodes(
  ctx: MutationContext,
  pipeline: PipelineRecord,
  nodes: GraphNode[],
  reason: string,
): Promise<number> {
  // The config of a shared component may be larger than the one that it replaces.
  if (reason !== UNLINKED) assertGraphSize({ ...pipeline, nodes });
  await updatePipeline(ctx.db, pipeline.id, { nodes });
  await publishPipelineChanges(ctx, pipeline.environmentId, {
    pipelineId: pipeline.id,
    reason,
    served: false,
  });
  return (await getPipeline(ctx, pipeline.id)).graphRevision;
}

export const linkTo = (node: GraphNode, component: StoredComponent): GraphNode => ({
  ...node,
  config: component.config,
  sharedComponentId: component.id,
  sharedComponentVersion: component.version,
});

export async function changeNode(
  ctx: MutationContext,
  pipeline: PipelineRecord,
  before: GraphNode,
  after: GraphNode,
  reason: string,
  action?: string,
) {
  const nodes = pipeline.nodes.map((node) => (node === before ? after : node));
  const graphRevision = await replaceNodes(ctx, pipeline, nodes, reason);
  ctx.audit({
    ...(action === undefined ? {} : { action }),
    entityType: 'Pipeline',
    entityId: pipeline.id,
    environmentId: pipeline.environmentId,
    diff: diffOf<GraphNode>(before, after, ['sharedComponentId', 'sharedComponentVersion']),
    metadata: {
      name: pipeline.name,
      componentKey: after.componentKey,
      sharedComponentId: after.sharedComponentId ?? before.sharedComponentId ?? null,
      version: after.sharedComponentVersion ?? null,
    },
  });
  return { pipelineId: pipeline.id, graphRevision, node: after };
}
