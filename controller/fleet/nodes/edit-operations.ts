import {
  CreateNode,
  DeletedNode,
  NodeId,
  NodeSummary,
  RevokedNode,
  UpdateNode,
} from '../../../schemas/api/fleet/fleet.ts';
import { environmentScope, objectScope } from '../../identity/access/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { readStatus } from '../status/index.ts';
import {
  deleteNode,
  insertWaitingNode,
  type LockedNode,
  lockNode,
  lockNodeLimit,
  revokeToken,
  writeNode,
} from './edit-store.ts';
import { countNodes } from './store.ts';
import { summary } from './summary.ts';

async function getLocked(ctx: MutationContext, id: string): Promise<LockedNode> {
  const node = await lockNode(ctx.db, id);
  if (!node) throw notFound('Node');
  return node;
}

async function readSummary(ctx: Context, environmentId: string, nodeId: string): Promise<NodeSummary> {
  const { nodes } = await readStatus(ctx, { environmentId, nodeId });
  const status = nodes[0];
  if (!status) throw notFound('Node');
  return summary(status);
}

/** Signals the node directory and the push stream of the node. */
const publishNodeChange = (ctx: MutationContext, { id, environmentId }: LockedNode) =>
  ctx.services.bus.publish(ctx.db, { type: 'node', nodeId: id, environmentId });

const notifyUi = (ctx: MutationContext, environmentId: string) =>
  ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['fleet', 'pipelines'] });

export const create = mutation({
  name: 'fleet.create',
  summary: 'Create a node by hand: the first agent that enrolls from its host takes it over',
  role: 'EDITOR',
  audit: 'node.created',
  input: CreateNode,
  output: NodeSummary,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, host, apiPort = null, ...input }) {
    const limit = await lockNodeLimit(ctx.db, environmentId);
    if (limit !== null && (await countNodes(ctx.db, environmentId)) >= limit)
      throw preconditionFailed(
        `The environment has reached its limit of ${limit} nodes; delete one, or raise the limit in its settings`,
      );
    const name = input.name.trim();
    const id = await insertWaitingNode(ctx.db, { environmentId, name, host, apiPort });
    ctx.audit({ entityType: 'Node', entityId: id, metadata: { name, host } });
    await ctx.services.bus.publish(ctx.db, {
      type: 'ui',
      environmentId,
      topics: ['fleet', 'environments'],
    });
    return readSummary(ctx, environmentId, id);
  },
});

export const update = mutation({
  name: 'fleet.update',
  summary: 'Rename a node, or set its labels',
  role: 'EDITOR',
  audit: 'node.updated',
  input: UpdateNode,
  output: NodeSummary,
  scope: (ctx, input) => objectScope(ctx, 'Node', input.id),
  async run(ctx, { id, ...change }) {
    const before = await getLocked(ctx, id);
    const name = change.name?.trim() ?? before.name;
    const labels =
      change.labels && sortedText(change.labels) !== sortedText(before.uiLabels) ? change.labels : null;
    const diff: Record<string, [unknown, unknown]> = {
      ...(name === before.name ? {} : { name: [before.name, name] }),
      ...(labels ? { labels: [before.uiLabels, labels] } : {}),
    };
    ctx.audit({
      entityType: 'Node',
      entityId: id,
      metadata: { name },
      ...(Object.keys(diff).length > 0 ? { diff } : {}),
    });
    if (Object.keys(diff).length > 0) {
      await writeNode(ctx.db, id, { name, labels });
      if (labels) await publishNodeChange(ctx, before);
      await notifyUi(ctx, before.environmentId);
    }
    return readSummary(ctx, before.environmentId, id);
  },
});

/** jsonb returns object keys in its own order. */
const sortedText = (labels: Record<string, string>) =>
  JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

export const remove = mutation({
  name: 'fleet.delete',
  summary: 'Delete a node and its reports; its agent is rejected from then on',
  role: 'EDITOR',
  audit: 'node.deleted',
  input: NodeId,
  output: DeletedNode,
  scope: (ctx, input) => objectScope(ctx, 'Node', input.id),
  async run(ctx, { id }) {
    const node = await getLocked(ctx, id);
    await deleteNode(ctx.db, id);
    ctx.audit({ entityType: 'Node', entityId: id, metadata: { name: node.name, host: node.host } });
    await publishNodeChange(ctx, node);
    await notifyUi(ctx, node.environmentId);
    await ctx.services.bus.publish(ctx.db, {
      type: 'ui',
      environmentId: node.environmentId,
      topics: ['environments'],
    });
    return { deleted: true as const, id, name: node.name };
  },
});

export const revokeNode = mutation({
  name: 'fleet.revokeNode',
  summary: 'Revoke the token of a node: its agent is rejected until it enrolls again, as a new node',
  role: 'ADMIN',
  audit: 'node.revoked',
  input: NodeId,
  output: RevokedNode,
  scope: (ctx, input) => objectScope(ctx, 'Node', input.id),
  async run(ctx, { id }) {
    const node = await getLocked(ctx, id);
    if (node.enrolledAt === null)
      throw preconditionFailed(
        `The node "${node.name}" has not enrolled yet, so it has no token; delete it instead`,
      );
    ctx.audit({
      entityType: 'Node',
      entityId: id,
      metadata: { name: node.name },
      ...(node.revokedAt === null ? { diff: { revoked: [false, true] } } : {}),
    });
    if (node.revokedAt === null) {
      await revokeToken(ctx.db, id, new Date(ctx.clock.now()));
      await publishNodeChange(ctx, node);
      await notifyUi(ctx, node.environmentId);
    }
    return { id, name: node.name, revoked: true as const };
  },
});
