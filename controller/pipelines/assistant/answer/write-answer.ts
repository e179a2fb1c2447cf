/**
 * Writes the answer to a stored question: asks the provider, passes the text on as it comes, evaluates what is proposed, and
 * stores all of it however it ends.
 */
import type { Asked, Suggestion } from '../../../../schemas/api/pipelines/conversations.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { DomainError, messageOf, unavailable } from '../../../platform/operation/errors.ts';
import { askModel } from '../ask-model.ts';
import { type BuiltContext, buildContext } from '../context/build-context.ts';
import { MOST_MESSAGES } from '../conversation/operations.ts';
import { finishAnswer, listMessages } from '../conversation/store.ts';
import type { ChatMessage } from '../provider/model-client.ts';
import { findProvider, type ProviderRecord } from '../provider/store.ts';
import { evaluateProposal } from '../suggestions/evaluate.ts';
import { type ReadProposals, readBlocks, readToolCalls } from '../suggestions/read-proposals.ts';
import { noProvider } from '../usage/limits.ts';
import type { Question } from './ask.ts';
import { watchStop } from './watch-stop.ts';

export type AnswerEvent =
  | { event: 'start'; data: Asked }
  | { event: 'delta'; data: { text: string } }
  | { event: 'suggestion'; data: Suggestion }
  | { event: 'usage'; data: { inputTokens: number; outputTokens: number } }
  | { event: 'done'; data: { messageId: string; state: 'done' | 'stopped'; note: string | null } }
  | {
      event: 'error';
      data: { messageId: string; code: string; message: string; retryAfterSeconds?: number };
    };

const MAX_TOKENS = 4_096;
/** Of the stored text. */
const MAX_ANSWER_CHARS = 100_000;

interface Answer {
  content: string;
  notes: string[];
  suggestions: Suggestion[];
  inputTokens: number;
  outputTokens: number;
}

/** Never throws. `ctx.signal` ends it as `ai.stop` does. */
export async function writeAnswer(
  ctx: Context,
  asked: Asked,
  question: Question,
  emit: (event: AnswerEvent) => void,
): Promise<void> {
  const { messageId } = asked;
  const answer: Answer = { content: '', notes: [], suggestions: [], inputTokens: 0, outputTokens: 0 };
  const stopping = watchStop(ctx, messageId, () => answer.content);
  const signal = AbortSignal.any([ctx.signal, stopping.signal]);
  emit({ event: 'start', data: asked });
  let failure: DomainError | null = null;
  try {
    await write({ ...ctx, signal }, asked, question, { answer, emit });
  } catch (error) {
    if (!signal.aborted) failure = explain(ctx, messageId, error);
  } finally {
    stopping.end();
  }
  const state = failure ? 'failed' : signal.aborted ? 'stopped' : 'done';
  const note = [...(failure ? [failure.message] : []), ...answer.notes].join('\n') || null;
  try {
    await finishAnswer(ctx.db, messageId, { ...answer, state, note });
  } catch (error) {
    ctx.log.warn({ messageId, reason: messageOf(error) }, 'an answer of the assistant was not stored');
  }
  if (state !== 'failed') emit({ event: 'done', data: { messageId, state, note } });
  else if (failure) {
    const { code, message, details } = failure;
    const seconds = details?.retryAfterSeconds;
    emit({
      event: 'error',
      data: {
        messageId,
        code,
        message,
        ...(typeof seconds === 'number' ? { retryAfterSeconds: seconds } : {}),
      },
    });
  }
}

function explain(ctx: Context, messageId: string, error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  ctx.log.error({ messageId, requestId: ctx.requestId, err: error }, 'an answer of the assistant failed');
  return unavailable('Something went wrong on the server while it wrote this answer; ask again');
}

interface Writing {
  answer: Answer;
  emit: (event: AnswerEvent) => void;
}

async function write(
  ctx: Context,
  { conversationId, userMessageId, messageId }: Asked,
  { teamId, place, text, event }: Question,
  writing: Writing,
): Promise<void> {
  const { answer, emit } = writing;
  const provider = await findProvider(ctx.db, teamId);
  if (!provider) throw noProvider();
  const messages = await listMessages(ctx.db, conversationId, MOST_MESSAGES);
  const history = messages.filter(({ id }) => id !== userMessageId && id !== messageId);
  const built = await buildContext(ctx, teamId, { ...place, text, event, history });
  ctx.signal.throwIfAborted();
  const show = (suggestion: Suggestion) => {
    answer.suggestions.push(suggestion);
    emit({ event: 'suggestion', data: suggestion });
  };
  const askFor = (refused: readonly Suggestion[]) =>
    suggestionsOf(
      ctx,
      { provider, built, refused, purpose: place.kind, componentKey: place.componentKey },
      writing,
    );
  const first = await askFor([]);
  first.filter((one) => !isRefused(one)).forEach(show);
  const refused = first.filter(isRefused);
  if (refused.length > 0) {
    built.messages.push(
      ...correction(answer.content, refused).map(({ author, text }) => ({
        author,
        text: built.withoutTyped(text),
      })),
    );
    const corrected = await askFor(refused).catch((error: unknown): Suggestion[] => {
      if (ctx.signal.aborted || !(error instanceof DomainError)) throw error;
      answer.notes.push(`A correction could not be asked for: ${error.message}`);
      return [];
    });
    // What a correction replaces is not shown.
    (corrected.length > 0 ? corrected : refused).forEach(show);
  }
  if (answer.content.trim() === '' && answer.suggestions.length === 0)
    throw unavailable(
      answer.notes.length > 0
        ? `The AI provider gave no answer that can be used. ${answer.notes.join('. ')}`
        : 'The AI provider answers with nothing; ask again, or in other words',
    );
}

/** A program that does not run on the sample is refused as one that does not compile. */
const isRefused = ({ verdict, trial }: Suggestion): boolean =>
  verdict === 'invalid' || (trial !== null && !trial.success);

function correction(text: string, refused: readonly Suggestion[]): ChatMessage[] {
  const problems = refused.map(({ title, problems, trial }) => {
    const ofTrial = trial && !trial.success ? [trial.error ?? '', ...trial.diagnostics] : [];
    return `"${title}": ${[...problems, ...ofTrial].filter((one) => one !== '').join('; ')}`;
  });
  return [
    { author: 'assistant', text: text.trim() || '(proposed changes)' },
    {
      author: 'user',
      text: `The checks of Headgate refuse what you proposed:\n${problems.join('\n')}\n\nPropose corrected changes, as a whole, and say in one sentence what was wrong. Propose nothing if it cannot be corrected.`,
    },
  ];
}

interface Round {
  provider: ProviderRecord;
  built: BuiltContext;
  /** What the checks refuse is given back to the model once. */
  refused: readonly Suggestion[];
  purpose: string;
  /** Of a conversation about VRL; empty for the others. */
  componentKey: string;
}

async function suggestionsOf(ctx: Context, round: Round, writing: Writing): Promise<Suggestion[]> {
  const { proposals, notes } = await askOnce(ctx, round, writing);
  writing.answer.notes.push(...notes);
  const suggestions: Suggestion[] = [];
  for (const proposal of proposals) {
    ctx.signal.throwIfAborted();
    suggestions.push(await evaluateProposal(ctx, round.built.baseline, proposal, round.componentKey));
  }
  return suggestions;
}

async function askOnce(
  ctx: Context,
  { provider, built, refused, purpose }: Round,
  { answer, emit }: Writing,
): Promise<ReadProposals> {
  const { system, tools, scrubber } = built;
  // What the checks quote may hold a value of a secret.
  const messages = built.messages.map(({ author, text }) => ({ author, text: scrubber.values(text) }));
  const before = { inputTokens: answer.inputTokens, outputTokens: answer.outputTokens };
  const start = answer.content.length;
  const calls: { name: string; input: string }[] = [];
  const notes: string[] = [];
  if (refused.length > 0 && answer.content.trim() !== '') append('\n\n');
  function append(piece: string): void {
    const room = MAX_ANSWER_CHARS - answer.content.length;
    if (room <= 0) return;
    answer.content += piece.slice(0, room);
    emit({ event: 'delta', data: { text: piece.slice(0, room) } });
    if (piece.length >= room) notes.push('The answer is longer than can be stored; its end is left out');
  }
  const question = {
    purpose,
    system,
    messages,
    tools,
    maxTokens: MAX_TOKENS,
    signal: ctx.signal,
    retries: 1,
  };
  for await (const event of askModel(ctx, provider, question)) {
    switch (event.type) {
      case 'text':
        append(event.text);
        break;
      case 'tool':
        calls.push(event);
        break;
      case 'usage':
        answer.inputTokens = before.inputTokens + event.inputTokens;
        answer.outputTokens = before.outputTokens + event.outputTokens;
        emit({
          event: 'usage',
          data: { inputTokens: answer.inputTokens, outputTokens: answer.outputTokens },
        });
        break;
      case 'cut':
        notes.push(
          event.reason === 'length'
            ? `The answer was cut off at ${MAX_TOKENS} tokens, or where the budget ended`
            : 'The AI provider withheld a part of its answer',
        );
    }
  }
  const read = calls.length > 0 ? readToolCalls(calls) : readBlocks(answer.content.slice(start));
  return { proposals: read.proposals, notes: [...notes, ...read.notes] };
}
