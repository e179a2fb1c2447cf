/** Accepts a question: stores it with its answer, which runs from then on. Two operations, since roles differ. */
import {
  Ask,
  Asked,
  type ConversationKind,
  MAX_QUESTION_BYTES,
} from '../../../../schemas/api/pipelines/conversations.ts';
import type { Context, MutationContext } from '../../../platform/operation/context.ts';
import { badRequest, conflict } from '../../../platform/operation/errors.ts';
import { newId } from '../../../platform/operation/ids.ts';
import { mutation } from '../../../platform/operation/operation.ts';
import { readEvent } from '../context/read-event.ts';
import {
  ABANDONED_MS,
  ABANDONED_NOTE,
  MOST_MESSAGES,
  ofPipeline,
  placeOf,
  replaceConversation,
} from '../conversation/operations.ts';
import { failAbandoned, insertQuestion, lockConversation, trimMessages } from '../conversation/store.ts';
import { findProvider, type ProviderRecord } from '../provider/store.ts';
import { assertRequestLeft, noProvider } from '../usage/limits.ts';

export interface Question {
  teamId: string;
  place: ReturnType<typeof placeOf>;
  text: string;
  event: string | null;
}

/** What the question is about, in the form in which it is stored and answered. @throws BAD_REQUEST */
export async function readQuestion(ctx: Context, input: Ask): Promise<Question> {
  const { conversation: kind, pipelineId, componentKey, message, event } = input;
  const text = message.trim();
  if (text === '') throw badRequest('message: write a question');
  if (Buffer.byteLength(text) > MAX_QUESTION_BYTES)
    throw badRequest(`message: it may have ${MAX_QUESTION_BYTES} bytes at most; ask about a part of it`);
  const { teamId } = await ofPipeline(ctx, input);
  const place = placeOf(ctx, { kind, pipelineId, componentKey });
  return { teamId: teamId ?? '', place, text, event: readEvent(event) };
}

async function prepare(ctx: Context, input: Ask): Promise<{ question: Question; provider: ProviderRecord }> {
  const question = await readQuestion(ctx, input);
  const provider = await findProvider(ctx.db, question.teamId);
  if (!provider) throw noProvider();
  await assertRequestLeft(ctx, ctx.db, provider);
  return { question, provider };
}

async function begin(
  ctx: MutationContext,
  { startNew }: Ask,
  { question: { place, text }, provider }: { question: Question; provider: ProviderRecord },
) {
  const now = ctx.clock.now();
  const at = new Date(now);
  const conversation = startNew
    ? await replaceConversation(ctx, place)
    : await lockConversation(ctx.db, place, { id: newId(), at });
  await failAbandoned(ctx.db, conversation.id, {
    ...{ before: new Date(now - ABANDONED_MS), note: ABANDONED_NOTE },
  });
  const asked = { conversationId: conversation.id, userMessageId: newId(), messageId: newId() };
  if (!(await insertQuestion(ctx.db, { ...asked, text, at })))
    throw conflict('An answer is being written in this conversation; wait for its end, or stop it');
  await trimMessages(ctx.db, conversation.id, MOST_MESSAGES);
  ctx.audit({
    ...{ entityType: 'Pipeline', entityId: place.pipelineId },
    metadata: { conversation: place.kind, provider: provider.kind, model: provider.model },
  });
  return asked;
}

/** What is said stays between the user and the provider; that something was asked is in the audit log. */
const common = {
  audit: 'ai.asked',
  input: Ask,
  output: Asked,
  scope: ofPipeline,
  prepare,
  run: begin,
} as const;

const assertKind = (input: Ask, kinds: readonly ConversationKind[]): void => {
  if (!kinds.includes(input.conversation))
    throw badRequest(`conversation: it must be one of ${kinds.join(', ')}`);
};

export const askEditor = mutation({
  ...{ name: 'ai.ask', summary: 'Ask the assistant to change a pipeline or a program', role: 'EDITOR' },
  ...common,
  async prepare(ctx, input) {
    assertKind(input, ['pipeline', 'vrl']);
    return prepare(ctx, input);
  },
});

/** Who sees the logs may ask about them. */
export const askDebugger = mutation({
  ...{ name: 'ai.askDebug', summary: 'Ask the assistant what is wrong with a pipeline', role: 'VIEWER' },
  ...common,
  async prepare(ctx, input) {
    assertKind(input, ['debug']);
    return prepare(ctx, input);
  },
});

export const askOperationOf = (kind: unknown) => (kind === 'debug' ? askDebugger : askEditor);
