import { isDeepStrictEqual } from 'node:util';
import {
  CreateSharedComponent,
  DeletedSharedComponent,
  DeleteSharedComponent,
  GetSharedComponent,
  ListSharedComponents,
  SharedComponent,
  SharedComponentList,
  UpdateSharedComponent,
} from '../../../schemas/api/pipelines/shared-components.ts';
import { environmentScope } from '../../identity/access/index.ts';
import { diffOf } from '../../platform/operation/audit-entry.ts';
import type { Context } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { mutation, query, type Scope } from '../../platform/operation/operation.ts';
import { allows } from '../../platform/operation/permissions.ts';
import { maskSensitive } from '../definition/mask.ts';
import { lockHandmadePipeline } from '../lifecycle/lock-pipeline.ts';
import { assertConfig, getSharedComponent, insert, notifyUi } from './components.ts';
import { replaceNodes, UNLINKED } from './linked-nodes.ts';
import { unlinked } from './links.ts';
import {
  deleteSharedComponent,
  findSharedComponent,
  listSharedComponents,
  listUses,
  type StoredComponent,
  updateSharedComponent,
} from './store.ts';

const present = (ctx: Context, scope: Scope, component: StoredComponent): StoredComponent =>
  allows(ctx.actor, scope, { role: 'EDITOR' })
    ? component
    : { ...component, config: maskSensitive(component.config) };

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
