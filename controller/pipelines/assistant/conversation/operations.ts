/** Reads, restarts and stops conversations. Each belongs to the user who began it: to others it does not exist. */
import {
  type Conversation,
  type ConversationKind,
  ConversationState,
  OfVrlConversation,
  StartConversation,
  StopAnswer,
  Stopping,
} from '../../../../schemas/api/pipelines/conversations.ts';
import { OfPipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { objectScope } from '../../../identity/access/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { badRequest, forbidden, notFound } from '../../../platform/operation/errors.ts';
import { newId } from '../../../platform/operation/ids.ts';
import { mutation, query } from '../../../platform/operation/operation.ts';
import {
  type ConversationPlace,
  type ConversationRecord,
  deleteConversation,
  findConversation,
  findOwnConversation,
  listMessages,
  lockConversation,
  requestStop,
} from './store.ts';

export const MOST_MESSAGES = 200;
/** A controller stores a running answer more often than this. */
export const ABANDONED_MS = 60_000;
export const ABANDONED_NOTE = 'The controller stopped while it wrote this answer; ask again';

export const ofPipeline = (ctx: Context, { pipelineId }: { pipelineId: string }) =>
  objectScope(ctx, 'Pipeline', pipelineId);

/** Conversations belong to users. @throws FORBIDDEN */
export function userIdOf({ actor }: Context): string {
  if (actor.type !== 'user') throw forbidden('Only users have conversations with the assistant');
  return actor.userId;
}

/** @throws BAD_REQUEST for a component in a conversation that has none, or none in one about VRL */
export function placeOf(
  ctx: Context,
  input: { kind: ConversationKind; pipelineId: string; componentKey?: string | undefined },
): ConversationPlace {
  const { kind, pipelineId, componentKey } = input;
  if ((kind === 'vrl') !== (componentKey !== undefined))
    throw badRequest(
      kind === 'vrl'
        ? 'componentKey: name the component whose program it is about'
        : `componentKey: a conversation of the kind ${kind} is about the whole pipeline; leave it out`,
    );
  return { kind, pipelineId, userId: userIdOf(ctx), componentKey: componentKey ?? '' };
}

export async function presentConversation(
  ctx: Pick<Context, 'db' | 'clock'>,
  { userId, componentKey, ...conversation }: ConversationRecord,
): Promise<Conversation> {
  const abandonedBefore = ctx.clock.now() - ABANDONED_MS;
  const messages = await listMessages(ctx.db, conversation.id, MOST_MESSAGES);
  return {
    ...conversation,
    componentKey: componentKey === '' ? null : componentKey,
    messages: messages.map(({ conversationId, aliveAt, ...message }) =>
      message.state === 'running' && (aliveAt?.getTime() ?? 0) < abandonedBefore
        ? { ...message, state: 'failed' as const, note: ABANDONED_NOTE }
        : message,
    ),
  };
}

async function read(ctx: Context, place: ConversationPlace) {
  const found = await findConversation(ctx.db, place);
  return { conversation: found && (await presentConversation(ctx, found)) };
}

export const getConversation = query({
  name: 'ai.getConversation',
  summary: 'The conversation of the caller about a pipeline',
  role: 'VIEWER',
  input: OfPipeline,
  output: ConversationState,
  scope: ofPipeline,
  run: (ctx, { pipelineId }) => read(ctx, placeOf(ctx, { kind: 'pipeline', pipelineId })),
});

export const getDebugConversation = query({
  name: 'ai.getDebugConversation',
  summary: 'The conversation of the caller about what is wrong with a pipeline',
  role: 'VIEWER',
  input: OfPipeline,
  output: ConversationState,
  scope: ofPipeline,
  run: (ctx, { pipelineId }) => read(ctx, placeOf(ctx, { kind: 'debug', pipelineId })),
});

export const getVrlConversation = query({
  name: 'ai.getVrlConversation',
  summary: 'The conversation of the caller about the VRL program of a component',
  role: 'VIEWER',
  input: OfVrlConversation,
  output: ConversationState,
  scope: ofPipeline,
  run: (ctx, input) => read(ctx, placeOf(ctx, { kind: 'vrl', ...input })),
});

export const startNewConversation = mutation({
  name: 'ai.startNewConversation',
  summary: 'Delete the conversation of the caller about a pipeline, and begin another one',
  role: 'EDITOR',
  audit: 'ai.conversationStarted',
  input: StartConversation,
  output: ConversationState,
  scope: ofPipeline,
  async run(ctx, { pipelineId, conversation: kind = 'pipeline', componentKey }) {
    const place = placeOf(ctx, { kind, pipelineId, componentKey });
    const begun = await replaceConversation(ctx, place);
    ctx.audit({ entityType: 'Pipeline', entityId: pipelineId, metadata: { conversation: kind } });
    return { conversation: await presentConversation(ctx, begun) };
  },
});

/** A running answer ends with the message that it would be stored in. */
export async function replaceConversation(
  ctx: Context,
  place: ConversationPlace,
): Promise<ConversationRecord> {
  const before = await findConversation(ctx.db, place);
  if (before) await stopAnswers(ctx, before.id);
  await deleteConversation(ctx.db, place);
  return lockConversation(ctx.db, place, { id: newId(), at: new Date(ctx.clock.now()) });
}

async function stopAnswers(ctx: Context, conversationId: string): Promise<boolean> {
  const ids = await requestStop(ctx.db, conversationId);
  await ctx.services.bus.publish(
    ctx.db,
    ids.map((messageId) => ({ type: 'ai-stop' as const, messageId })),
  );
  return ids.length > 0;
}

export const stop = mutation({
  name: 'ai.stop',
  summary: 'Stop the answer that is being written in a conversation of the caller',
  role: 'VIEWER',
  audit: 'ai.stopped',
  input: StopAnswer,
  output: Stopping,
  scope: ofPipeline,
  async run(ctx, { pipelineId, conversationId: id }) {
    const conversation = await findOwnConversation(ctx.db, { id, pipelineId, userId: userIdOf(ctx) });
    if (!conversation) throw notFound('Conversation');
    const stopping = await stopAnswers(ctx, id);
    if (stopping) ctx.audit({ entityType: 'Pipeline', entityId: pipelineId });
    else ctx.unchanged();
    return { stopping };
  },
});
