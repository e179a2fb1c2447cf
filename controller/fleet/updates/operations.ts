import type { PendingAction } from '../../../schemas/agent/protocol.ts';
import {
  CancelledUpdate,
  OfNode,
  RestartedAgent,
  TriggerAgentUpdate,
  TriggeredUpdate,
} from '../../../schemas/api/fleet.ts';
import { objectScope } from '../../identity/access/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { type NodeStatus, readStatus } from '../status/index.ts';
import { checkedDownload, presentDownload } from './download.ts';
import { channelOf, isRefusal, pendingOf, sameVersion, type UpdateUnderWay } from './pending-update.ts';
import { endUpdate, lockUpdatable, type UpdatableNode, writeUpdate } from './store.ts';

declare module '../../platform/operation/context.ts' {
  interface Services {
    /** Where people and agents reach the controller. */
    baseUrl: string;
  }
}

async function locked(ctx: MutationContext, nodeId: string): Promise<UpdatableNode> {
  const node = await lockUpdatable(ctx.db, nodeId);
  if (!node) throw notFound('Node');
  return node;
}

async function statusOf(ctx: Context, node: UpdatableNode): Promise<NodeStatus> {
  const { nodes } = await readStatus(ctx, { environmentId: node.environmentId, nodeId: node.id });
  if (!nodes[0]) throw notFound('Node');
  return nodes[0];
}

/** PRECONDITION_FAILED for a node that would not hear of it. */
function refuseDeaf(node: UpdatableNode, { health, healthReason }: NodeStatus): void {
  const named = `The node "${node.name}"`;
  if (node.enrolledAt === null)
    throw preconditionFailed(`${named} has not enrolled yet; start an agent on its host first`);
  if (node.revoked) throw preconditionFailed(`${named} was revoked; enroll its agent again first`);
  if (health === 'UNREACHABLE' || health === 'UNKNOWN')
    throw preconditionFailed(`${named} cannot be reached: ${healthReason}`);
}

function refuseUpdate(node: UpdatableNode, status: NodeStatus, action: PendingAction): void {
  refuseDeaf(node, status);
  const { agentVersion, deploymentMode } = status.node;
  const { targetVersion, checksum } = action;
  const named = `The node "${node.name}"`;
  if (deploymentMode === 'DOCKER')
    throw preconditionFailed(
      `${named} runs in a container, whose agent does not update itself; pull a new image instead`,
    );
  if (agentVersion !== null && sameVersion(agentVersion, targetVersion))
    throw preconditionFailed(`${named} has the agent ${agentVersion} already`);
  if (channelOf(targetVersion) !== node.channel)
    throw preconditionFailed(
      `${named} follows the channel ${node.channel}, and ${targetVersion} is of the other one; choose a version of its own channel, or install the agent anew`,
    );
  const failed = node.failedUpdates.find(
    (one) => one.targetVersion === targetVersion && one.checksum === checksum && !isRefusal(one.reason),
  );
  if (failed)
    throw preconditionFailed(
      `This very file of ${targetVersion} failed on the node "${node.name}" before: ${failed.reason}. Choose another version or another build`,
    );
}

export const triggerAgentUpdate = mutation({
  name: 'fleet.triggerAgentUpdate',
  summary: 'Have the agent of a node bring itself to another version',
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
      downloadUrl: checkedDownload(downloadUrl, ctx.services.baseUrl),
      checksum: `sha256:${checksum.replace(/^sha256:/, '').toLowerCase()}`,
      ...(signature === undefined ? {} : { signature }),
    };
    const node = await locked(ctx, nodeId);
    const status = await statusOf(ctx, node);
    refuseUpdate(node, status, action);
    const update: UpdateUnderWay = {
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
        downloadUrl: presentDownload(action.downloadUrl),
        checksum: action.checksum,
      },
    });
    await changed(ctx, node);
    await ctx.services.bus.publish(ctx.db, {
      type: 'push',
      nodeId,
      message: { ...action, type: 'action', action: action.type },
    });
    return { nodeId, pendingUpdate: pendingOf(update) };
  },
});

export const cancelAgentUpdate = mutation({
  name: 'fleet.cancelAgentUpdate',
  summary: 'Take back an update that the agent has not carried out yet',
  role: 'ADMIN',
  permission: 'nodes.manage',
  audit: 'node.agentUpdateCancelled',
  input: OfNode,
  output: CancelledUpdate,
  scope: (ctx, input) => objectScope(ctx, 'Node', input.nodeId),
  async run(ctx, { nodeId }) {
    const node = await locked(ctx, nodeId);
    if (!node.update)
      throw preconditionFailed(`No update of the agent is under way to the node "${node.name}"`);
    const { targetVersion } = node.update.action;
    await endUpdate(ctx.db, node, null);
    ctx.audit({
      entityType: 'Node',
      entityId: nodeId,
      diff: { updateTo: [targetVersion, null] },
      metadata: { name: node.name, targetVersion },
    });
    await changed(ctx, node);
    return { nodeId, cancelled: true as const, targetVersion };
  },
});

export const restartAgent = mutation({
  name: 'fleet.restartAgent',
  summary: 'Have the agent of a node start anew, with its engines',
  role: 'ADMIN',
  permission: 'nodes.manage',
  audit: 'node.agentRestartRequested',
  input: OfNode,
  output: RestartedAgent,
  scope: (ctx, input) => objectScope(ctx, 'Node', input.nodeId),
  async run(ctx, { nodeId }) {
    const node = await locked(ctx, nodeId);
    const status = await statusOf(ctx, node);
    refuseDeaf(node, status);
    if (status.node.agentHealth.pushConnected !== true)
      throw preconditionFailed(
        `The push channel of the node "${node.name}" is not connected, which a restart is sent by; restart the agent on its host, or try again in a while`,
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

async function changed(ctx: MutationContext, { id, environmentId }: UpdatableNode): Promise<void> {
  await ctx.services.bus.publish(ctx.db, { type: 'node', nodeId: id, environmentId });
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['fleet'] });
}
