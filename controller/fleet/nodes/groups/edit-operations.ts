import { isDeepStrictEqual } from 'node:util';
import { Deleted } from '../../../../schemas/api/common.ts';
import { OrGit } from '../../../../schemas/api/delivery/git-words.ts';
import {
  CreateNodeGroup,
  NodeGroup,
  NodeGroupId,
  UpdateNodeGroup,
} from '../../../../schemas/api/fleet/node-groups.ts';
import { lockEditable } from '../../../delivery/ownership/index.ts';
import { environmentScope, objectScope } from '../../../identity/access/index.ts';
import type { MutationContext } from '../../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation } from '../../../platform/operation/operation.ts';
import { lockEnvironment } from '../../environments/index.ts';
import {
  countGroups,
  deleteGroup,
  findGroup,
  type GroupDefinition,
  insertGroup,
  publishGroupChange,
  updateGroup,
} from '../../groups/index.ts';
import { datedOrigin } from '../../status/index.ts';

/** Limit per environment, including groups from git: every node is matched against all of them. */
const MAX_GROUPS = 200;

async function getGroup(ctx: MutationContext, id: string): Promise<NodeGroup> {
  const group = await findGroup(ctx.db, id);
  if (!group) throw notFound('Node group');
  return { ...group, git: datedOrigin(group.git) };
}

/** Wakes the git reconciler: a manifest may wait for the name that became free. */
async function wakeGit(ctx: MutationContext, environmentId: string, trigger: string): Promise<void> {
  await ctx.services.bus.publish(ctx.db, { type: 'wake', loop: 'git', key: environmentId, trigger });
}

const FIELDS = ['name', 'criteria', 'labelTemplate', 'requiredLabels'] as const;

export const create = mutation({
  name: 'nodeGroup.create',
  summary: 'Create a group of the nodes with certain labels, and add further labels to them',
  role: 'ADMIN',
  audit: 'nodeGroup.created',
  input: CreateNodeGroup,
  output: NodeGroup,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, criteria, labelTemplate = {}, requiredLabels = [], ...input }) {
    await lockEnvironment(ctx.db, environmentId);
    if ((await countGroups(ctx.db, environmentId)) >= MAX_GROUPS)
      throw preconditionFailed(`This environment has ${MAX_GROUPS} node groups; delete some first`);
    const name = input.name.trim();
    const id = await insertGroup(ctx.db, environmentId, { name, criteria, labelTemplate, requiredLabels });
    ctx.audit({
      entityType: 'NodeGroup',
      entityId: id,
      metadata: { name, criteria, labelTemplate, requiredLabels },
    });
    await publishGroupChange(ctx, environmentId);
    return getGroup(ctx, id);
  },
});

export const update = mutation({
  name: 'nodeGroup.update',
  summary: 'Change a node group that the UI owns',
  role: 'ADMIN',
  audit: 'nodeGroup.updated',
  input: UpdateNodeGroup,
  output: OrGit(NodeGroup),
  scope: (ctx, input) => objectScope(ctx, 'Node group', input.id),
  async run(ctx, { id, ...change }) {
    const { environmentId } = await lockEditable(ctx, 'node_groups', id);
    const before = await getGroup(ctx, id);
    const after: GroupDefinition = {
      name: change.name?.trim() ?? before.name,
      criteria: change.criteria ?? before.criteria,
      labelTemplate: change.labelTemplate ?? before.labelTemplate,
      requiredLabels: change.requiredLabels ?? before.requiredLabels,
    };
    const differing = FIELDS.filter((field) => !isDeepStrictEqual(before[field], after[field]));
    ctx.audit({
      entityType: 'NodeGroup',
      entityId: id,
      ...(differing.length > 0
        ? { diff: Object.fromEntries(differing.map((field) => [field, [before[field], after[field]]])) }
        : {}),
      metadata: { name: after.name },
    });
    if (differing.length === 0) return before;
    await updateGroup(ctx.db, id, after);
    if (before.name !== after.name) await wakeGit(ctx, environmentId, 'node group renamed');
    await publishGroupChange(ctx, environmentId);
    return getGroup(ctx, id);
  },
});

export const remove = mutation({
  name: 'nodeGroup.delete',
  summary: 'Delete a node group that the UI owns; its nodes lose the labels that it gave them',
  role: 'ADMIN',
  audit: 'nodeGroup.deleted',
  input: NodeGroupId,
  output: OrGit(Deleted),
  scope: (ctx, input) => objectScope(ctx, 'Node group', input.id),
  async run(ctx, { id }) {
    const { environmentId, name } = await lockEditable(ctx, 'node_groups', id);
    await deleteGroup(ctx.db, id);
    ctx.audit({ entityType: 'NodeGroup', entityId: id, metadata: { name } });
    await wakeGit(ctx, environmentId, 'node group deleted');
    await publishGroupChange(ctx, environmentId);
    return { deleted: true as const };
  },
});
