/** Periodic work of the leader: ends sample requests and taps, reassigns unanswered requests, and deletes old data. */
import type { Knex } from 'knex';
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { PushMessage } from '../../../schemas/agent/protocol.ts';
import type { Context } from '../../platform/operation/context.ts';
import { readStatus } from '../status/index.ts';
import { chooseNode } from './choose-node.ts';
import { fitsSignal } from './sample-scope.ts';
import {
  bumpNode,
  deleteOldRequests,
  endExpiredRequests,
  listUnanswered,
  reassign,
  type Unanswered,
} from './store.ts';
import { endTap } from './tap-messages.ts';
import { deleteOldBatches, listEndedTaps } from './tap-store.ts';

/** A request without an answer is given to another node after this time. */
const ANSWER_MS = 20_000;
const BATCH_MS = 60_000;
/** A tap without a viewer ends after this time, which covers the start and a reconnect. */
const UNWATCHED_MS = 15_000;
/** A controller that has not confirmed its viewer for this time has died. */
const LOST_MS = 45_000;
const SILENT_MS = 60_000;

const ago = (ctx: Context, ms: number) => new Date(ctx.clock.now() - ms);

export async function maintainSamples(ctx: Context): Promise<void> {
  const { db } = ctx;
  await db.transaction(async (tx) => {
    const ended = await endExpiredRequests(tx, ago(ctx, 0));
    for (const { nodeId, environmentId } of ended)
      if (nodeId !== null) await publishNodeChange(ctx, tx, nodeId, environmentId);
    for (const environmentId of new Set(ended.map((request) => request.environmentId)))
      await ctx.services.bus.publish(tx, { type: 'ui', environmentId, topics: ['samples'] });
  });
  for (const request of await listUnanswered(db, ago(ctx, ANSWER_MS))) await reassignRequest(ctx, request);
  await deleteOldRequests(db, ago(ctx, AGENT_LIMITS.sampleResultMs));
  await deleteOldBatches(db, ago(ctx, BATCH_MS));
}

async function publishNodeChange(
  ctx: Context,
  tx: Knex,
  nodeId: string,
  environmentId: string,
): Promise<void> {
  await bumpNode(tx, nodeId);
  await ctx.services.bus.publish(tx, { type: 'node', nodeId, environmentId });
}

/** Gives the request to a node that has not had it. If there is none, it stays with its node. */
async function reassignRequest(ctx: Context, request: Unanswered): Promise<void> {
  const { environmentId, nodeId: previousNodeId, earlierNodeIds, ...sampleRequest } = request;
  const { pipelineId } = sampleRequest;
  const excluded = previousNodeId === null ? earlierNodeIds : [...earlierNodeIds, previousNodeId];
  const choice = chooseNode(await readStatus(ctx, { environmentId, pipelineId }), { excluded });
  if (!('node' in choice)) return;
  const { nodeId } = choice.node;
  await ctx.db.transaction(async (tx) => {
    if (!(await reassign(tx, request, nodeId, ago(ctx, 0)))) return;
    if (previousNodeId !== null) await publishNodeChange(ctx, tx, previousNodeId, environmentId);
    await publishNodeChange(ctx, tx, nodeId, environmentId);
    const message: PushMessage = { type: 'sample_request', ...sampleRequest };
    if (fitsSignal(message)) await ctx.services.bus.publish(tx, { type: 'push', nodeId, message });
  });
}

export async function maintainTaps(ctx: Context): Promise<void> {
  const ended = await listEndedTaps(ctx.db, {
    now: ago(ctx, 0),
    unwatchedSince: ago(ctx, UNWATCHED_MS),
    lostSince: ago(ctx, LOST_MS),
    silentSince: ago(ctx, SILENT_MS),
  });
  for (const { tapId, reason } of ended)
    await ctx.db.transaction((tx) => endTap(tx, ctx.services.bus, tapId, reason));
}
