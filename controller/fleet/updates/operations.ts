import type { PendingAction } from '../../../schemas/agent/protocol.ts';
import {
  CancelledUpdate,
  OfNode,
  RestartedAgent,
  TriggerAgentUpdate,
  TriggeredUpdate,
} from '../../../schemas/api/fleet/fleet.ts';
import { objectScope } from '../../identity/access/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { type NodeStatus, readStatus } from '../status/index.ts';
import { redactDownloadUrl, validateDownloadUrl } from './download.ts';
import {
  channelOf,
  isRefusal,
  type PendingAgentUpdate,
  presentPending,
  sameVersion,
} from './pending-update.ts';
import { endUpdate, lockUpdatable, type UpdatableNode, writeUpdate } from './store.ts';

declare module '../../platform/operation/context.ts' {
  interface Services {
    /** The address under which users and agents reach the controller. */
    baseUrl: string;
  }
}

async function getLocked(ctx: MutationContext, nodeId: string): Promise<UpdatableNode> {
  const node = await lockUpdatable(ctx.db, nodeId);
  if (!node) throw notFound('Node');
  return node;
}

async function readNodeStatus(ctx: Context, node: UpdatableNode): Promise<NodeStatus> {
  const { nodes } = await readStatus(ctx, { environmentId: node.environmentId, nodeId: node.id });
  if (!nodes[0]) throw notFound('Node');
  return nodes[0];
}

/** PRECONDITION_FAILED for a node that would not receive the request. */
function assertReachable(node: UpdatableNode, { health, healthReason }: NodeStatus): void {
  const named = `The node "${node.name}"`;
  if (node.enrolledAt === null)
    throw preconditionFailed(`${named} has not enrolled yet; start an agent on its host first`);
  if (node.revoked) throw preconditionFailed(`${named} was revoked; enroll its agent again first`);
  if (health === 'UNREACHABLE' || health === 'UNKNOWN')
    throw preconditionFailed(`${named} cannot be reached: ${healthReason}`);
}

function assertUpdatable(node: UpdatableNode, status: NodeStatus, action: PendingAction): void {
  assertReachable(node, status);
  const { agentVersion, deploymentMode } = status.node;
  const { targetVersion, checksum } = action;
  const named = `The node "${node.name}"`;
  if (deploymentMode === 'DOCKER')
    throw preconditionFailed(
      `${named} runs in a container, whose agent does not update itself; pull a new image instead`,
    );
  if (agentVersion !== null && sameVersion(agentVersion, targetVersion))
    throw preconditionFailed(`${named} already has the agent ${agentVersion}`);
  if (channelOf(targetVersion) !== node.channel)
    throw preconditionFailed(
      `${named} follows the channel ${node.channel}, and ${targetVersion} belongs to the other channel; choose a version of its channel, or reinstall the agent`,
    );
  const failed = node.failedUpdates.find(
    (update) =>
      update.targetVersion === targetVersion && update.checksum === checksum && !isRefusal(update.reason),
  );
  if (failed)
    throw preconditionFailed(
      `The same file of ${targetVersion} has already failed on the node "${node.name}": ${failed.reason}. Choose another version or another build`,
    );
}

export const triggerAgentUpdate = mutation({
  name: 'fleet.triggerAgentUpdate',
  summary: 'Request that the agent of a node updates itself to another version',
  role: 'ADMIN',
  permission: 'nodes.manage',
  audit: 'node.agentUpdateRequested',
  input: TriggerAgentUpdate,
  output: TriggeredUpdate,
  scope: (ctx, input) => objectScope(ctx, 'Node', input.nodeId),
  async run(ctx, { nodeId, targetVersion, downloadUrl, checksum, signature }) {
    const action: PendingAction = {
      type: 'self_update',
      targetVersion,
      downloadUrl: validateDownloadUrl(downloadUrl, ctx.services.baseUrl),
      checksum: `sha256:${checksum.replace(/^sha256:/, '').toLowerCase()}`,
      ...(signature === undefined ? {} : { signature }),
    };
    const node = await getLocked(ctx, nodeId);
    const status = await readNodeStatus(ctx, node);
    assertUpdatable(node, status, action);
    const update: PendingAgentUpdate = {
      ...{ action, requestedAt: ctx.clock.now(), tries: 0, triedAt: null },
      errorBefore: status.node.updateError,
    };
    await writeUpdate(ctx.db, nodeId, update);
    const replaced = node.update?.action.targetVersion ?? null;
    ctx.audit({
      entityType: 'Node',
      entityId: nodeId,
      diff: { updateTo: [replaced, targetVersion] },
      metadata: {
        name: node.name,
        from: status.node.agentVersion,
        targetVersion,
        downloadUrl: redactDownloadUrl(action.downloadUrl),
        checksum: action.checksum,
      },
    });
    await publishChange(ctx, node);
    await ctx.services.bus.publish(ctx.db, {
      type: 'push',
      nodeId,
      message: { ...action, type: 'action', action: action.type },
    });
    return { nodeId, pendingUpdate: presentPending(update) };
  },
});

export const cancelAgentUpdate = mutation({
  name: 'fleet.cancelAgentUpdate',
  summary: 'Cancel an update that the agent has not carried out yet',
  role: 'ADMIN',
  permission: 'nodes.manage',
  audit: 'node.agentUpdateCancelled',
  input: OfNode,
  output: CancelledUpdate,
  scope: (ctx, input) => objectScope(ctx, 'Node', input.nodeId),
  async run(ctx, { nodeId }) {
    const node = await getLocked(ctx, nodeId);
    if (!node.update) throw preconditionFailed(`The node "${node.name}" has no pending update of its agent`);
    const { targetVersion } = node.update.action;
    await endUpdate(ctx.db, node, null);
    ctx.audit({
      entityType: 'Node',
      entityId: nodeId,
      diff: { updateTo: [targetVersion, null] },
      metadata: { name: node.name, targetVersion },
    });
    await publishChange(ctx, node);
    return { nodeId, cancelled: true as const, targetVersion };
  },
});

export const restartAgent = mutation({
  name: 'fleet.restartAgent',
  summary: 'Restart the agent of a node and its engines',
  role: 'ADMIN',
  permission: 'nodes.manage',
  audit: 'node.agentRestartRequested',
  input: OfNode,
  output: RestartedAgent,
  scope: (ctx, input) => objectScope(ctx, 'Node', input.nodeId),
  async run(ctx, { nodeId }) {
    const node = await getLocked(ctx, nodeId);
    const status = await readNodeStatus(ctx, node);
    assertReachable(node, status);
    if (status.node.agentHealth.pushConnected !== true)
      throw preconditionFailed(
        `The push channel of the node "${node.name}" is not connected, and a restart needs it; restart the agent on its host, or try again in a while`,
      );
    ctx.audit({ entityType: 'Node', entityId: nodeId, metadata: { name: node.name } });
    await ctx.services.bus.publish(ctx.db, {
      type: 'push',
      nodeId,
      message: { type: 'action', action: 'restart' },
    });
    return { nodeId, requested: true as const };
  },
});

async function publishChange(ctx: MutationContext, { id, environmentId }: UpdatableNode): Promise<void> {
  await ctx.services.bus.publish(ctx.db, { type: 'node', nodeId: id, environmentId });
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['fleet'] });
}
