/** Components of pipelines that are linked to a shared component, take over its newer versions, or are let go. */
import type { GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import {
  AcceptedUpdates,
  AcceptUpdateBulk,
  CreateFromNode,
  LinkExisting,
  LinkedNode,
  NodeOfPipeline,
  SharedComponent,
} from '../../../schemas/api/pipelines/shared-components.ts';
import { environmentScope, objectScope } from '../../identity/access/index.ts';
import type { AuditEntry } from '../../platform/operation/audit-entry.ts';
import type { Context } from '../../platform/operation/context.ts';
import { badRequest, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { lockHandmadePipeline, nodeOf } from '../lifecycle/lock-pipeline.ts';
import type { PipelineRecord } from '../lifecycle/store.ts';
import { getSharedComponent, insert } from './components.ts';
import { changeNode, linkTo, replaceNodes, UNLINKED } from './linked-nodes.ts';
import { unlinked } from './links.ts';
import { findSharedComponent, listSharedComponents, type StoredComponent } from './store.ts';

export const createFromNode = mutation({
  name: 'sharedComponent.createFromNode',
  summary: 'Create a shared component from a component, and link the component to it',
  role: 'EDITOR',
  audit: 'sharedComponent.created',
  input: CreateFromNode,
  output: SharedComponent,
  async scope(ctx, input) {
    await objectScope(ctx, 'Pipeline', input.pipelineId);
    return environmentScope(ctx, input.environmentId);
  },
  async run(ctx, input) {
    const { environmentId } = input;
    const pipeline = await lockHandmadePipeline(ctx, input.pipelineId);
    if (pipeline.environmentId !== environmentId) throw notFound('Pipeline');
    const node = nodeOf(pipeline, input.nodeId);
    if (node.sharedComponentId !== undefined)
      throw preconditionFailed(
        `"${node.componentKey}" is linked to a shared component already; unlink it first`,
      );
    const { componentType, kind, config } = node;
    const id = await insert(ctx, {
      environmentId,
      name: input.name.trim(),
      description: input.description ?? null,
      componentType,
      kind,
      config,
    });
    const component = await findSharedComponent(ctx.db, environmentId, id);
    if (!component) throw notFound('Shared component');
    await changeNode(
      ctx,
      pipeline,
      node,
      linkTo(node, component),
      'component shared',
      'sharedComponent.linked',
    );
    return getSharedComponent(ctx, environmentId, id);
  },
});

/** The newest version of the shared component that a node is linked to. */
async function getLinkedComponent(
  ctx: Context,
  pipeline: PipelineRecord,
  node: GraphNode,
): Promise<StoredComponent> {
  if (node.sharedComponentId === undefined)
    throw preconditionFailed(`"${node.componentKey}" is not linked to a shared component`);
  const component = await findSharedComponent(ctx.db, pipeline.environmentId, node.sharedComponentId);
  if (!component) throw notFound('Shared component');
  return component;
}

export const acceptUpdate = mutation({
  name: 'sharedComponent.acceptUpdate',
  summary: 'Accept the newest version of the shared component in one component',
  role: 'EDITOR',
  audit: 'sharedComponent.updateAccepted',
  input: NodeOfPipeline,
  output: LinkedNode,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId, nodeId }) {
    const pipeline = await lockHandmadePipeline(ctx, pipelineId);
    const node = nodeOf(pipeline, nodeId);
    const component = await getLinkedComponent(ctx, pipeline, node);
    return changeNode(ctx, pipeline, node, linkTo(node, component), 'shared component accepted');
  },
});

export const acceptUpdateBulk = mutation({
  name: 'sharedComponent.acceptUpdateBulk',
  summary: 'Accept the newest versions of all shared components of a pipeline',
  role: 'EDITOR',
  audit: 'sharedComponent.updatesAccepted',
  input: AcceptUpdateBulk,
  output: AcceptedUpdates,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId }) {
    const pipeline = await lockHandmadePipeline(ctx, pipelineId);
    const newest = new Map(
      (await listSharedComponents(ctx.db, pipeline.environmentId)).map((component) => [
        component.id,
        component,
      ]),
    );
    let accepted = 0;
    /** Versions by component key. */
    const diff: NonNullable<AuditEntry['diff']> = {};
    const nodes = pipeline.nodes.map((node) => {
      const component = newest.get(node.sharedComponentId ?? '');
      if (!component || component.version === node.sharedComponentVersion) return node;
      accepted += 1;
      diff[node.componentKey] = [node.sharedComponentVersion ?? null, component.version];
      return linkTo(node, component);
    });
    const graphRevision =
      accepted === 0
        ? pipeline.graphRevision
        : await replaceNodes(ctx, pipeline, nodes, 'shared components accepted');
    ctx.audit({
      entityType: 'Pipeline',
      entityId: pipelineId,
      environmentId: pipeline.environmentId,
      ...(accepted === 0 ? {} : { diff }),
      metadata: { name: pipeline.name, accepted },
    });
    return { pipelineId, graphRevision, accepted };
  },
});

export const unlink = mutation({
  name: 'sharedComponent.unlink',
  summary: 'Unlink a component from its shared component; it keeps its config',
  role: 'EDITOR',
  audit: 'sharedComponent.unlinked',
  input: NodeOfPipeline,
  output: LinkedNode,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId, nodeId }) {
    const pipeline = await lockHandmadePipeline(ctx, pipelineId);
    const node = nodeOf(pipeline, nodeId);
    if (node.sharedComponentId === undefined)
      throw preconditionFailed(`"${node.componentKey}" is not linked to a shared component`);
    return changeNode(ctx, pipeline, node, unlinked(node), UNLINKED);
  },
});

export const linkExisting = mutation({
  name: 'sharedComponent.linkExisting',
  summary: 'Link a component to a shared one, whose config replaces its own',
  role: 'EDITOR',
  audit: 'sharedComponent.linked',
  input: LinkExisting,
  output: LinkedNode,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId, nodeId, sharedComponentId }) {
    const { environmentId } = await objectScope(ctx, 'Pipeline', pipelineId);
    // Locked first, in the same order as a deletion, which looks for linked components.
    const component =
      environmentId && (await findSharedComponent(ctx.db, environmentId, sharedComponentId, true));
    const pipeline = await lockHandmadePipeline(ctx, pipelineId);
    const node = nodeOf(pipeline, nodeId);
    if (!component) throw notFound('Shared component');
    if (component.kind !== node.kind || component.componentType !== node.componentType) {
      throw badRequest(
        `"${node.componentKey}" is a ${node.kind.toLowerCase()} of type ${node.componentType}, and "${component.name}" is a ${component.kind.toLowerCase()} of type ${component.componentType}; link components of one type`,
      );
    }
    return changeNode(ctx, pipeline, node, linkTo(node, component), 'component linked');
  },
});
