/** What the leader does from time to time: requests and taps come to an end, and nothing is kept for longer than it should. */
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
import { deleteOldBatches, listOverTaps } from './tap-store.ts';

/** A node that has not answered by then is thought to be unable to. */
const ANSWER_MS = 20_000;
const BATCH_MS = 60_000;
/** Nobody watches: not yet, or for the moment of a reconnect. */
const UNWATCHED_MS = 15_000;
/** The controller at which it was watched has not said so for as long: it is gone. */
const LOST_MS = 45_000;
const SILENT_MS = 60_000;

const ago = (ctx: Context, ms: number) => new Date(ctx.clock.now() - ms);

export async function keepSamples(ctx: Context): Promise<void> {
  const { db } = ctx;
  await db.transaction(async (tx) => {
    const ended = await endExpiredRequests(tx, ago(ctx, 0));
    for (const { nodeId, environmentId } of ended)
      if (nodeId !== null) await servedAnew(ctx, tx, nodeId, environmentId);
    for (const environmentId of new Set(ended.map((one) => one.environmentId)))
      await ctx.services.bus.publish(tx, { type: 'ui', environmentId, topics: ['samples'] });
  });
  for (const request of await listUnanswered(db, ago(ctx, ANSWER_MS))) await giveToAnother(ctx, request);
  await deleteOldRequests(db, ago(ctx, AGENT_LIMITS.sampleResultMs));
  await deleteOldBatches(db, ago(ctx, BATCH_MS));
}

async function servedAnew(ctx: Context, tx: Knex, nodeId: string, environmentId: string): Promise<void> {
  await bumpNode(tx, nodeId);
  await ctx.services.bus.publish(tx, { type: 'node', nodeId, environmentId });
}

/** To one that was not asked yet. Where there is none, it stays with the node that has it. */
async function giveToAnother(ctx: Context, request: Unanswered): Promise<void> {
  const { environmentId, nodeId: before, earlierNodeIds, ...asked } = request;
  const { pipelineId } = asked;
  const except = before === null ? earlierNodeIds : [...earlierNodeIds, before];
  const choice = chooseNode(await readStatus(ctx, { environmentId, pipelineId }), { except });
  if (!('node' in choice)) return;
  const { nodeId } = choice.node;
  await ctx.db.transaction(async (tx) => {
    if (!(await reassign(tx, request, nodeId, ago(ctx, 0)))) return;
    if (before !== null) await servedAnew(ctx, tx, before, environmentId);
    await servedAnew(ctx, tx, nodeId, environmentId);
    const message: PushMessage = { type: 'sample_request', ...asked };
    if (fitsSignal(message)) await ctx.services.bus.publish(tx, { type: 'push', nodeId, message });
  });
}

export async function keepTaps(ctx: Context): Promise<void> {
  const over = await listOverTaps(ctx.db, {
    now: ago(ctx, 0),
    unwatchedSince: ago(ctx, UNWATCHED_MS),
    lostSince: ago(ctx, LOST_MS),
    silentSince: ago(ctx, SILENT_MS),
  });
  for (const { tapId, reason } of over)
    await ctx.db.transaction((tx) => endTap(tx, ctx.services.bus, tapId, reason));
}
