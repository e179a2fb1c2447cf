/** Conversations of users about a pipeline, with their messages. */
import type { Knex } from 'knex';
import type {
  ConversationKind,
  ConversationMessage,
  Suggestion,
} from '../../../../schemas/api/pipelines/conversations.ts';
import { brokeUnique } from '../../../database/errors.ts';

export interface ConversationPlace {
  kind: ConversationKind;
  pipelineId: string;
  userId: string;
  /** Empty but for VRL. */
  componentKey: string;
}
export interface ConversationRecord extends ConversationPlace {
  id: string;
  createdAt: Date;
}

const COLUMNS = {
  id: 'id',
  kind: 'kind',
  pipelineId: 'pipeline_id',
  userId: 'user_id',
  componentKey: 'component_key',
  createdAt: 'created_at',
} as const;

const wherePlace = ({ kind, pipelineId, userId, componentKey }: ConversationPlace) => ({
  ...{ kind, pipeline_id: pipelineId, user_id: userId, component_key: componentKey },
});

export async function findConversation(
  db: Knex,
  place: ConversationPlace,
): Promise<ConversationRecord | null> {
  const row = await db('ai_conversations').where(wherePlace(place)).first(COLUMNS);
  return (row as ConversationRecord | undefined) ?? null;
}

/** Of this user alone: to others it does not exist. */
export async function findOwnConversation(
  db: Knex,
  { id, pipelineId, userId }: { id: string; pipelineId: string; userId: string },
): Promise<ConversationRecord | null> {
  const row = await db('ai_conversations')
    .where({ id, pipeline_id: pipelineId, user_id: userId })
    .first(COLUMNS);
  return (row as ConversationRecord | undefined) ?? null;
}

/** Creates it where there is none, and locks it until the transaction ends. */
export async function lockConversation(
  tx: Knex,
  place: ConversationPlace,
  fresh: { id: string; at: Date },
): Promise<ConversationRecord> {
  const row = { id: fresh.id, ...wherePlace(place), created_at: fresh.at, used_at: fresh.at };
  await tx('ai_conversations')
    .insert(row)
    .onConflict(['user_id', 'pipeline_id', 'kind', 'component_key'])
    .merge({ used_at: fresh.at });
  const found = await tx('ai_conversations').where(wherePlace(place)).forUpdate().first(COLUMNS);
  return found as ConversationRecord;
}

/** With its messages. */
export const deleteConversation = (tx: Knex, place: ConversationPlace): Promise<number> =>
  tx('ai_conversations').where(wherePlace(place)).delete();

export interface MessageRecord extends ConversationMessage {
  conversationId: string;
  aliveAt: Date | null;
}

const MESSAGE_COLUMNS = {
  id: 'id',
  conversationId: 'conversation_id',
  author: 'author',
  state: 'state',
  content: 'content',
  note: 'note',
  suggestions: 'suggestions',
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  createdAt: 'created_at',
  aliveAt: 'alive_at',
} as const;

type StoredMessage = Omit<MessageRecord, 'suggestions'> & { suggestions: unknown };

const toMessage = ({ suggestions, ...message }: StoredMessage): MessageRecord => ({
  ...message,
  // As jsonb has them, with dates as text.
  suggestions: (suggestions as Suggestion[]).map((one) => ({
    ...one,
    appliedAt: one.appliedAt && new Date(one.appliedAt),
    // Those that were stored before this was known have none.
    became: one.became ?? null,
  })),
});

/** The newest, the oldest of them first. */
export async function listMessages(
  db: Knex,
  conversationId: string,
  limit: number,
): Promise<MessageRecord[]> {
  const rows = await db('ai_messages')
    .where({ conversation_id: conversationId })
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(limit)
    .select(MESSAGE_COLUMNS);
  return (rows as StoredMessage[]).reverse().map(toMessage);
}

export async function findMessage(
  db: Knex,
  { id, conversationId }: { id: string; conversationId: string },
): Promise<MessageRecord | null> {
  const row = await db('ai_messages').where({ id, conversation_id: conversationId }).first(MESSAGE_COLUMNS);
  return row ? toMessage(row as StoredMessage) : null;
}

export async function lockMessage(
  tx: Knex,
  { id, conversationId }: { id: string; conversationId: string },
): Promise<MessageRecord | null> {
  const row = await tx('ai_messages')
    .where({ id, conversation_id: conversationId })
    .forUpdate()
    .first(MESSAGE_COLUMNS);
  return row ? toMessage(row as StoredMessage) : null;
}

export async function setSuggestions(
  tx: Knex,
  id: string,
  suggestions: readonly Suggestion[],
): Promise<void> {
  await tx('ai_messages')
    .where({ id })
    .update({ suggestions: JSON.stringify(suggestions) });
}

/** A question and its answer, which runs. Returns false where another one runs. */
export async function insertQuestion(
  tx: Knex,
  question: { conversationId: string; userMessageId: string; messageId: string; text: string; at: Date },
): Promise<boolean> {
  const { conversationId, userMessageId, messageId, text, at } = question;
  const common = { conversation_id: conversationId, created_at: at };
  try {
    // A failed statement would end the transaction of the caller.
    await tx.transaction((inner) =>
      inner('ai_messages').insert([
        { ...common, id: userMessageId, author: 'user', state: 'done', content: text },
        { ...common, id: messageId, author: 'assistant', state: 'running', content: '', alive_at: at },
      ]),
    );
    return true;
  } catch (error) {
    if (brokeUnique(error, 'ai_messages_one_running')) return false;
    throw error;
  }
}

/** Deletes all but the newest messages. */
export async function trimMessages(tx: Knex, conversationId: string, keep: number): Promise<void> {
  const newest = tx('ai_messages')
    .where({ conversation_id: conversationId })
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(keep)
    .select('id');
  await tx('ai_messages').where({ conversation_id: conversationId }).whereNotIn('id', newest).delete();
}

/** Ends answers whose controller has not stored them for so long. */
export async function failAbandoned(
  tx: Knex,
  conversationId: string,
  { before, note }: { before: Date; note: string },
): Promise<void> {
  await tx('ai_messages')
    .where({ conversation_id: conversationId, state: 'running' })
    .where('alive_at', '<', before)
    .update({ state: 'failed', note });
}

/** Stores a running answer as far as it has come. Returns whether it shall be stopped. */
export async function keepAlive(
  db: Knex,
  id: string,
  { content, at }: { content: string; at: Date },
): Promise<boolean> {
  const rows = await db('ai_messages')
    .where({ id, state: 'running' })
    .update({ content, alive_at: at })
    .returning('stop_requested');
  return rows[0]?.stop_requested ?? true;
}

export interface FinishedAnswer {
  state: 'done' | 'stopped' | 'failed';
  content: string;
  note: string | null;
  suggestions: readonly Suggestion[];
  inputTokens: number;
  outputTokens: number;
}

export async function finishAnswer(db: Knex, id: string, answer: FinishedAnswer): Promise<void> {
  const { state, content, note, suggestions } = answer;
  await db('ai_messages')
    .where({ id, state: 'running' })
    .update({
      ...{ state, content, note, suggestions: JSON.stringify(suggestions), alive_at: null },
      ...{ input_tokens: answer.inputTokens, output_tokens: answer.outputTokens },
    });
}

/** The running answers of a conversation, which are to be stopped. */
export async function requestStop(tx: Knex, conversationId: string): Promise<string[]> {
  const rows = await tx('ai_messages')
    .where({ conversation_id: conversationId, state: 'running' })
    .update({ stop_requested: true })
    .returning('id');
  return rows.map(({ id }) => id);
}

/** With their messages. */
export async function deleteConversationsBefore(tx: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    'DELETE FROM ai_conversations WHERE id IN (SELECT id FROM ai_conversations WHERE used_at < ? LIMIT ?)',
    [before, limit],
  );
  return rowCount;
}
