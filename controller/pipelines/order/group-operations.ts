import {
  CreatePipelineGroup,
  DeletedPipelineGroup,
  ListPipelineGroups,
  PipelineGroup,
  PipelineGroupId,
  PipelineGroupList,
  UpdatePipelineGroup,
} from '../../../schemas/api/pipelines/pipeline-order.ts';
import { environmentScope, objectScope } from '../../identity/access/index.ts';
import { diffOf } from '../../platform/operation/audit-entry.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { deleteGroup, insertGroup, listGroups, updateGroup } from './group-store.ts';
import { assertGroupDepth, assertMovable, depthOf, freeName, treeOf } from './group-tree.ts';
import { lockOrder } from './lock-store.ts';

/** Limit per environment, since the list is not paged. */
const MAX_GROUPS = 500;

async function read(ctx: Context, environmentId: string): Promise<PipelineGroup[]> {
  const groups = await listGroups(ctx.db, environmentId);
  const tree = treeOf(groups);
  return groups.map((group) => ({ ...group, depth: depthOf(tree, group.id) }));
}

async function lockAll(ctx: MutationContext, environmentId: string): Promise<PipelineGroup[]> {
  await lockOrder(ctx.db, environmentId);
  return read(ctx, environmentId);
}

function getFrom(groups: readonly PipelineGroup[], id: string): PipelineGroup {
  const group = groups.find((group) => group.id === id);
  if (!group) throw notFound('Pipeline group');
  return group;
}

/** The environment of a group. @throws NOT_FOUND */
async function environmentOf(ctx: Context, id: string): Promise<string> {
  const { environmentId } = await objectScope(ctx, 'Pipeline group', id);
  if (!environmentId) throw notFound('Pipeline group');
  return environmentId;
}

const notifyUi = (ctx: MutationContext, environmentId: string) =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['pipelines'] });

export const list = query({
  name: 'pipelineGroup.list',
  summary: 'Groups of pipelines of an environment',
  role: 'VIEWER',
  input: ListPipelineGroups,
  output: PipelineGroupList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: (ctx, input) => read(ctx, input.environmentId),
});

export const create = mutation({
  name: 'pipelineGroup.create',
  summary: 'Create a group for pipelines, optionally within another group',
  role: 'EDITOR',
  audit: 'pipelineGroup.created',
  input: CreatePipelineGroup,
  output: PipelineGroup,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, parentId = null, color = null, ...input }) {
    const groups = await lockAll(ctx, environmentId);
    if (groups.length >= MAX_GROUPS)
      throw preconditionFailed(`This environment has ${MAX_GROUPS} groups; delete some first`);
    if (parentId !== null) getFrom(groups, parentId);
    assertGroupDepth(treeOf(groups), parentId);
    const name = input.name.trim();
    const id = await insertGroup(ctx.db, environmentId, { name, color, parentId });
    ctx.audit({ entityType: 'PipelineGroup', entityId: id, metadata: { name, parentId } });
    await notifyUi(ctx, environmentId);
    return getFrom(await read(ctx, environmentId), id);
  },
});

export const update = mutation({
  name: 'pipelineGroup.update',
  summary: 'Rename, colour or move a group with its content',
  role: 'EDITOR',
  audit: 'pipelineGroup.updated',
  input: UpdatePipelineGroup,
  output: PipelineGroup,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline group', input.id),
  async run(ctx, { id, ...change }) {
    const environmentId = await environmentOf(ctx, id);
    const groups = await lockAll(ctx, environmentId);
    const before = getFrom(groups, id);
    const after = {
      name: change.name?.trim() ?? before.name,
      color: change.color === undefined ? before.color : change.color,
      parentId: change.parentId === undefined ? before.parentId : change.parentId,
    };
    if (after.parentId !== null) getFrom(groups, after.parentId);
    if (after.parentId !== before.parentId) assertMovable(treeOf(groups), id, after.parentId);
    await updateGroup(ctx.db, id, after);
    ctx.audit({
      entityType: 'PipelineGroup',
      entityId: id,
      diff: diffOf(before, after),
      metadata: { name: after.name },
    });
    await notifyUi(ctx, environmentId);
    return getFrom(await read(ctx, environmentId), id);
  },
});

export const remove = mutation({
  name: 'pipelineGroup.delete',
  summary: 'Delete a group: its subgroups move to the root, and its pipelines are in no group',
  role: 'ADMIN',
  audit: 'pipelineGroup.deleted',
  input: PipelineGroupId,
  output: DeletedPipelineGroup,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline group', input.id),
  async run(ctx, { id }) {
    const environmentId = await environmentOf(ctx, id);
    const groups = await lockAll(ctx, environmentId);
    const { name, pipelineCount: ungrouped } = getFrom(groups, id);
    const taken = new Set(
      groups
        .filter((group) => group.parentId === null && group.id !== id)
        .map((group) => group.name.toLowerCase()),
    );
    const moved = groups
      .filter((group) => group.parentId === id)
      .map((child) => {
        const free = freeName(child.name, taken);
        taken.add(free.toLowerCase());
        return { id: child.id, name: free };
      });
    await deleteGroup(ctx.db, id, moved);
    ctx.audit({
      entityType: 'PipelineGroup',
      entityId: id,
      metadata: { name, ungrouped, moved: moved.map((child) => child.name) },
    });
    await notifyUi(ctx, environmentId);
    return { deleted: true as const, moved, ungrouped };
  },
});
