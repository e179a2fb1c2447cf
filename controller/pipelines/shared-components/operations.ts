import { isDeepStrictEqual } from 'node:util';
import type { GraphNode } from '../../../schemas/api/pipelines.ts';
import {
  AcceptedUpdates,
  AcceptUpdateBulk,
  CreateFromNode,
  CreateSharedComponent,
  DeletedSharedComponent,
  DeleteSharedComponent,
  GetSharedComponent,
  LinkExisting,
  LinkedNode,
  ListSharedComponents,
  NodeOfPipeline,
  SharedComponent,
  SharedComponentList,
  UpdateSharedComponent,
} from '../../../schemas/api/shared-components.ts';
import { lockEnvironment } from '../../fleet/environments/index.ts';
import { environmentScope, objectScope } from '../../identity/access/index.ts';
import { type AuditEntry, diffOf } from '../../platform/operation/audit-entry.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { badRequest, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { mutation, query, type Scope } from '../../platform/operation/operation.ts';
import { allows } from '../../platform/operation/permissions.ts';
import { maskSensitive } from '../definition/mask.ts';
import { assertGraphSize } from '../graph/graph.ts';
import { getPipeline, lockHandmadePipeline, nodeOf } from '../lifecycle/lock-pipeline.ts';
import { publishPipelineChanges } from '../lifecycle/publish-change.ts';
import { type PipelineRecord, updatePipeline } from '../lifecycle/store.ts';
import { unlinked } from './links.ts';
import {
  countSharedComponents,
  deleteSharedComponent,
  findSharedComponent,
  insertSharedComponent,
  listSharedComponents,
  listUses,
  type StoredComponent,
  updateSharedComponent,
} from './store.ts';

/** Limit per environment, since the list is not paged. */
const MAX_COMPONENTS = 1_000;
const MAX_CONFIG_BYTES = 262_144;
const UNLINKED = 'component unlinked';

const present = (ctx: Context, scope: Scope, component: StoredComponent): StoredComponent =>
  allows(ctx.actor, scope, { role: 'EDITOR' })
    ? component
    : { ...component, config: maskSensitive(component.config) };

async function getSharedComponent(ctx: Context, environmentId: string, id: string): Promise<SharedComponent> {
  const component = await findSharedComponent(ctx.db, environmentId, id);
  if (!component) throw notFound('Shared component');
  const uses = await listUses(ctx.db, environmentId, id);
  return { ...component, usedBy: uses.map(({ sharedComponentId: _, ...use }) => use) };
}

/** @throws BAD_REQUEST */
function assertConfig(config: Record<string, unknown>): void {
  for (const reserved of ['type', 'inputs']) {
    if (Object.hasOwn(config, reserved))
      throw badRequest(
        `config contains "${reserved}"; the type is componentType, and a pipeline defines the inputs`,
      );
  }
  const bytes = Buffer.byteLength(JSON.stringify(config));
  if (bytes > MAX_CONFIG_BYTES)
    throw badRequest(`config has ${bytes} bytes, the limit is ${MAX_CONFIG_BYTES}`);
}

async function notifyUi(ctx: MutationContext, environmentId: string): Promise<void> {
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['pipelines'] });
}

export const list = query({
  name: 'sharedComponent.list',
  summary: 'Shared components of an environment, and the pipelines that use them',
  role: 'VIEWER',
  input: ListSharedComponents,
  output: SharedComponentList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId }) {
    const scope = await environmentScope(ctx, environmentId);
    const [components, uses] = await Promise.all([
      listSharedComponents(ctx.db, environmentId),
      listUses(ctx.db, environmentId),
    ]);
    const usedBy = Map.groupBy(uses, (use) => use.sharedComponentId);
    return components.map((component) => ({
      ...present(ctx, scope, component),
      usedBy: (usedBy.get(component.id) ?? []).map(({ sharedComponentId: _, ...use }) => use),
    }));
  },
});

export const getById = query({
  name: 'sharedComponent.getById',
  summary: 'One shared component',
  role: 'VIEWER',
  input: GetSharedComponent,
  output: SharedComponent,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, id }) {
    const scope = await environmentScope(ctx, environmentId);
    const component = await getSharedComponent(ctx, environmentId, id);
    return { ...component, ...present(ctx, scope, component) };
  },
});

async function insert(
  ctx: MutationContext,
  component: Omit<Parameters<typeof insertSharedComponent>[1], 'id' | 'createdById'>,
): Promise<string> {
  assertConfig(component.config);
  await lockEnvironment(ctx.db, component.environmentId);
  if ((await countSharedComponents(ctx.db, component.environmentId)) >= MAX_COMPONENTS)
    throw preconditionFailed(`This environment has ${MAX_COMPONENTS} shared components; delete some first`);
  const id = newId();
  const createdById = ctx.actor.type === 'user' ? ctx.actor.userId : null;
  await insertSharedComponent(ctx.db, { ...component, id, createdById });
  ctx.audit({
    entityType: 'SharedComponent',
    entityId: id,
    environmentId: component.environmentId,
    metadata: { name: component.name, componentType: component.componentType },
  });
  await notifyUi(ctx, component.environmentId);
  return id;
}

export const create = mutation({
  name: 'sharedComponent.create',
  summary: 'Create a component that pipelines can share',
  role: 'EDITOR',
  audit: 'sharedComponent.created',
  input: CreateSharedComponent,
  output: SharedComponent,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const id = await insert(ctx, {
      ...input,
      name: input.name.trim(),
      description: input.description ?? null,
    });
    return getSharedComponent(ctx, input.environmentId, id);
  },
});

async function replaceNodes(
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

const linkTo = (node: GraphNode, component: StoredComponent): GraphNode => ({
  ...node,
  config: component.config,
  sharedComponentId: component.id,
  sharedComponentVersion: component.version,
});

async function changeNode(
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

export const update = mutation({
  name: 'sharedComponent.update',
  summary: 'Change a shared component; a new config is a new version, which each pipeline accepts on its own',
  role: 'EDITOR',
  audit: 'sharedComponent.updated',
  input: UpdateSharedComponent,
  output: SharedComponent,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { id, environmentId, ...change }) {
    const before = await findSharedComponent(ctx.db, environmentId, id, true);
    if (!before) throw notFound('Shared component');
    const config = change.config ?? before.config;
    assertConfig(config);
    const version = isDeepStrictEqual(config, before.config) ? before.version : before.version + 1;
    const name = change.name?.trim() ?? before.name;
    const description = change.description === undefined ? before.description : change.description;
    await updateSharedComponent(ctx.db, id, { name, description, config, version });
    ctx.audit({
      entityType: 'SharedComponent',
      entityId: id,
      environmentId,
      diff: diffOf<Pick<StoredComponent, 'name' | 'description' | 'version'>>(before, {
        name,
        description,
        version,
      }),
      metadata: { name },
    });
    await notifyUi(ctx, environmentId);
    return getSharedComponent(ctx, environmentId, id);
  },
});

export const remove = mutation({
  name: 'sharedComponent.delete',
  summary: 'Delete a shared component; linked components keep its config as their own',
  role: 'EDITOR',
  audit: 'sharedComponent.deleted',
  input: DeleteSharedComponent,
  output: DeletedSharedComponent,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { id, environmentId }) {
    const component = await findSharedComponent(ctx.db, environmentId, id, true);
    if (!component) throw notFound('Shared component');
    const uses = await listUses(ctx.db, environmentId, id);
    // In a fixed order, so that concurrent deletions do not deadlock.
    for (const pipelineId of [...new Set(uses.map((use) => use.pipelineId))].sort()) {
      const pipeline = await lockHandmadePipeline(ctx, pipelineId);
      const nodes = pipeline.nodes.map((node) => (node.sharedComponentId === id ? unlinked(node) : node));
      await replaceNodes(ctx, pipeline, nodes, UNLINKED);
    }
    await deleteSharedComponent(ctx.db, id);
    ctx.audit({
      entityType: 'SharedComponent',
      entityId: id,
      environmentId,
      metadata: { name: component.name, unlinked: uses.length },
    });
    await notifyUi(ctx, environmentId);
    return { deleted: true as const, unlinked: uses.length };
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
