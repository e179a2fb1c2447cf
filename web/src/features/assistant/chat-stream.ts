/** The answer of the assistant as it comes: one POST, answered with server-sent events. No React, so that tests read it. */
import type { Ask, Suggestion } from '../../../../schemas/api/pipelines/conversations.ts';

export interface ChatEvents {
  start: { conversationId: string; messageId: string; userMessageId: string };
  delta: { text: string };
  suggestion: Suggestion;
  usage: { inputTokens: number; outputTokens: number };
  done: { messageId: string; state: 'done' | 'stopped'; note: string | null };
  error: { messageId: string; code: string; message: string; retryAfterSeconds?: number };
}
export type ChatEvent = { [T in keyof ChatEvents]: { type: T; data: ChatEvents[T] } }[keyof ChatEvents];

const TYPES: readonly string[] = ['start', 'delta', 'suggestion', 'usage', 'done', 'error'];
const isType = (type: string): type is keyof ChatEvents => TYPES.includes(type);

/** What could not be asked or answered. */
export class ChatError extends Error {
  /** Of the server, or `NETWORK` where it did not answer to the end. */
  readonly code: string;
  /** `no-ai-provider` where the team has none. */
  readonly reason: string | null;
  readonly retryAfterSeconds: number | null;
  constructor(
    message: string,
    of: { code: string; reason?: string | null; retryAfterSeconds?: number | null },
  ) {
    super(message);
    this.name = 'ChatError';
    this.code = of.code;
    this.reason = of.reason ?? null;
    this.retryAfterSeconds = of.retryAfterSeconds ?? null;
  }
}

/** Takes a stream of text apart, wherever it is cut; comments and types that are not known are left out. */
export function createEventParser(): (chunk: string) => ChatEvent[] {
  let rest = '';
  return (chunk) => {
    rest += chunk;
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    return blocks.flatMap(parseBlock);
  };
}

function parseBlock(block: string): ChatEvent[] {
  let type = '';
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith('event:')) type = line.slice('event:'.length).trim();
    if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''));
  }
  if (!isType(type)) return [];
  try {
    return [{ type, data: JSON.parse(data.join('\n')) } as ChatEvent];
  } catch {
    return [];
  }
}

/**
 * Asks, and yields what comes. Aborting the signal stops the answer at the provider too.
 * @throws ChatError where the question was refused, and where the answer ended before its last event
 */
export async function* askAssistant(question: Ask, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  const response = await fetch('/api/ai/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(question),
    signal,
  }).catch((error: unknown) => {
    throw signal.aborted ? error : connectionLost();
  });
  if (!response.ok || !response.body) throw await refusal(response);
  const parse = createEventParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let ended = false;
  while (!ended) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw signal.aborted ? error : connectionLost();
    });
    if (done) break;
    for (const event of parse(value)) {
      ended ||= event.type === 'done' || event.type === 'error';
      yield event;
    }
  }
  if (!ended && !signal.aborted) throw connectionLost();
}

const connectionLost = () =>
  new ChatError('The connection to the controller was lost before the answer ended.', { code: 'NETWORK' });

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

async function refusal(response: Response): Promise<ChatError> {
  const parsed: unknown = await response.json().catch(() => ({}));
  const body = isObject(parsed) ? parsed : {};
  const after = Number(response.headers.get('retry-after'));
  return new ChatError(
    typeof body.error === 'string' ? body.error : `The controller answered with status ${response.status}.`,
    {
      code: typeof body.code === 'string' ? body.code : String(response.status),
      reason: typeof body.reason === 'string' ? body.reason : null,
      retryAfterSeconds: Number.isFinite(after) && after > 0 ? after : null,
    },
  );
}
