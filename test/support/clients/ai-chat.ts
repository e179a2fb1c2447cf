/** Asks the assistant over HTTP, as the UI does. */
import type { TestUser } from '../users/person.ts';

export interface ChatEvent {
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: each event has its own form.
  data: any;
}

export interface Chat {
  status: number;
  /** Of an answer that is no stream. */
  error: { error?: string; [detail: string]: unknown } | null;
  events: ChatEvent[];
  text(): string;
  find(event: string): ChatEvent['data'];
  /** Resolves with the end of the stream. */
  ended: Promise<void>;
  close(): void;
}

/** Resolves with the head of the answer; events come afterwards. */
export async function openChat(
  user: TestUser,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Chat> {
  const controller = new AbortController();
  const answer = await fetch(`${user.url}/api/ai/chat`, {
    method: 'POST',
    headers: { cookie: user.cookie, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: controller.signal,
  });
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const events: ChatEvent[] = [];
  const error = isStream ? null : ((await answer.json()) as Chat['error']);
  return {
    ...{ status: answer.status, error, events },
    text: () => events.map(({ event, data }) => (event === 'delta' ? data.text : '')).join(''),
    find: (event) => events.find((one) => one.event === event)?.data,
    ended: isStream ? read(answer, events).catch(() => {}) : Promise.resolve(),
    close: () => controller.abort(),
  };
}

/** Resolves with the whole answer. */
export async function chat(user: TestUser, body: unknown): Promise<Chat> {
  const opened = await openChat(user, body);
  await opened.ended;
  return opened;
}

async function read(answer: Response, events: ChatEvent[]): Promise<void> {
  let rest = '';
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = `${rest}${chunk}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event] = /^event: (.*)$/m.exec(block) ?? [];
      const [, data] = /^data: (.*)$/m.exec(block) ?? [];
      if (event && data) events.push({ event, data: JSON.parse(data) });
    }
  }
}
