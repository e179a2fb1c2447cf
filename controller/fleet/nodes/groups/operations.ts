/** Queries of node groups and their nodes. */
import {
  type GroupHealth,
  GroupHealthStats,
  ListNodesInGroup,
  NodeGroupList,
  NodesInGroup,
  OfEnvironmentGroups,
  UNGROUPED,
} from '../../../../schemas/api/fleet/node-groups.ts';
import { environmentScope } from '../../../identity/access/index.ts';
import { notFound } from '../../../platform/operation/errors.ts';
import { query } from '../../../platform/operation/operation.ts';
import { type GroupRule, listGroups, missingLabels } from '../../groups/index.ts';
import { datedOrigin, memoizePerJoin, type NodeStatus, readStatus } from '../../status/index.ts';
import { summary } from '../summary.ts';

/** Nodes by group id; nodes without a group are under `__ungrouped__`. */
const membersOf = memoizePerJoin(({ nodes }): ReadonlyMap<string, readonly NodeStatus[]> => {
  const members = new Map<string, NodeStatus[]>();
  for (const node of nodes) {
    const keys = node.groups.length === 0 ? [UNGROUPED] : node.groups.map(({ id }) => id);
    for (const key of keys) {
      const known = members.get(key);
      if (known) known.push(node);
      else members.set(key, [node]);
    }
  }
  return members;
});

export const list = query({
  name: 'nodeGroup.list',
  summary: 'Node groups of an environment',
  role: 'VIEWER',
  permission: 'nodes.read',
  input: OfEnvironmentGroups,
  output: NodeGroupList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const groups = await listGroups(ctx.db, input.environmentId);
    const members = membersOf(await readStatus(ctx, input));
    return groups.map((group) => ({
      ...group,
      git: datedOrigin(group.git),
      nodeCount: members.get(group.id)?.length ?? 0,
    }));
  },
});

function health(
  { key, name, group }: { key: string; name: string; group: GroupRule | null },
  members: readonly NodeStatus[] = [],
): GroupHealth {
  const count = (status: NodeStatus['health']) => members.filter((node) => node.health === status).length;
  return {
    key,
    name,
    total: members.length,
    healthy: count('HEALTHY'),
    degraded: count('DEGRADED'),
    unreachable: count('UNREACHABLE'),
    unknown: count('UNKNOWN'),
    maintenance: members.filter(({ node }) => node.maintenance).length,
    missingLabels: group ? members.filter(({ labels }) => missingLabels(group, labels).length > 0).length : 0,
  };
}

export const groupHealthStats = query({
  name: 'nodeGroup.groupHealthStats',
  summary: 'Health of the nodes of each group, and of those in none (key __ungrouped__)',
  role: 'VIEWER',
  permission: 'nodes.read',
  input: OfEnvironmentGroups,
  output: GroupHealthStats,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const groups = await listGroups(ctx.db, input.environmentId);
    const members = membersOf(await readStatus(ctx, input));
    return [
      ...groups.map((group) => health({ key: group.id, name: group.name, group }, members.get(group.id))),
      health({ key: UNGROUPED, name: 'Ungrouped', group: null }, members.get(UNGROUPED)),
    ];
  },
});

export const nodesInGroup = query({
  name: 'nodeGroup.nodesInGroup',
  summary: 'Nodes of a group; those in none for __ungrouped__',
  role: 'VIEWER',
  permission: 'nodes.read',
  input: ListNodesInGroup,
  output: NodesInGroup,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { groupId, environmentId }) {
    const groups = await listGroups(ctx.db, environmentId);
    const group = groups.find(({ id }) => id === groupId) ?? null;
    if (!group && groupId !== UNGROUPED) throw notFound('Node group');
    const members = membersOf(await readStatus(ctx, { environmentId }));
    return (members.get(groupId) ?? []).map((status) => ({
      ...summary(status),
      missingLabels: group ? missingLabels(group, status.labels) : [],
      overriddenLabels: Object.entries(group?.labelTemplate ?? {})
        .filter(([key, value]) => status.labels[key] !== value)
        .map(([key]) => key),
    }));
  },
});
