/**
 * An AI provider that answers by script, over HTTP as the vendors do: `/v1/chat/completions` as OpenAI, `/v1/messages` as
 * Anthropic. It keeps what it was asked.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';

export type Step =
  | { text: string }
  | { tool: string; input: unknown }
  /** Not JSON, as the arguments of a tool. */
  | { tool: string; rawInput: string }
  | { usage: { input: number; output: number } }
  /** Instead of a stream. */
  | { status: number; message?: string; headers?: Record<string, string> }
  /** Bytes of the stream as they are. */
  | { raw: string }
  /** Ends the answer before its end. */
  | { cut: 'length' }
  /** Sends nothing more, and keeps the connection until the client closes it. */
  | { stall: true }
  /** Waits. */
  | { until: Promise<unknown> };

export interface AskedRequest {
  wire: 'openai' | 'anthropic';
  path: string;
  headers: IncomingHttpHeaders;
  body: {
    model: string;
    system?: string;
    messages: { role: string; content: string }[];
    tools?: unknown[];
    [option: string]: unknown;
  };
  /** System and messages in one text. */
  text: string;
  /** The client closed the connection before the end of the answer. */
  isClosedEarly: boolean;
}

type Script = readonly Step[] | ((request: AskedRequest) => readonly Step[]);

export class ScriptedProvider {
  readonly requests: AskedRequest[] = [];
  /** What is answered where no script is left. */
  fallback: Script = [{ text: 'ready' }];
  readonly #scripts: Script[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  static async start(): Promise<ScriptedProvider> {
    const provider = new ScriptedProvider();
    provider.#server.listen(0, '127.0.0.1');
    await once(provider.#server, 'listening');
    return provider;
  }

  /** Of the server; the base URL of Anthropic's client. */
  get origin(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('The provider does not listen.');
    return `http://127.0.0.1:${address.port}`;
  }

  /** The base URL of OpenAI's client. */
  get openAiUrl(): string {
    return `${this.origin}/v1`;
  }

  get last(): AskedRequest {
    const last = this.requests.at(-1);
    if (!last) throw new Error('Nothing was asked.');
    return last;
  }

  /** The next answers, one a request. */
  script(...scripts: Script[]): void {
    this.#scripts.push(...scripts);
  }

  reset(): void {
    this.#scripts.length = 0;
    this.requests.length = 0;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const path = incoming.url ?? '';
    const wire = path.endsWith('/chat/completions') ? 'openai' : path === '/v1/messages' ? 'anthropic' : null;
    if (wire === null || incoming.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString()) as AskedRequest['body'];
    const system = body.system === undefined ? [] : [body.system];
    const text = [...system, ...body.messages.map(({ content }) => content)].join('\n');
    const request: AskedRequest = {
      ...{ wire, path, headers: incoming.headers, body, text, isClosedEarly: false },
    };
    this.requests.push(request);
    response.on('close', () => {
      request.isClosedEarly = !response.writableFinished;
    });
    const script = this.#scripts.shift() ?? this.fallback;
    await play(wire, typeof script === 'function' ? script(request) : script, response);
  }
}

async function play(wire: AskedRequest['wire'], steps: readonly Step[], response: ServerResponse) {
  const [first] = steps;
  if (first && 'status' in first) {
    const { status, message = 'the scripted error', headers = {} } = first;
    const error = wire === 'openai' ? { message } : { type: 'api_error', message };
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(wire === 'openai' ? { error } : { type: 'error', error }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const stream = wire === 'openai' ? openAiStream(response) : anthropicStream(response);
  stream.begin();
  let cut = false;
  for (const step of steps) {
    if ('text' in step) stream.text(step.text);
    else if ('tool' in step)
      stream.tool(step.tool, 'rawInput' in step ? step.rawInput : JSON.stringify(step.input));
    else if ('usage' in step) stream.usage(step.usage);
    else if ('raw' in step) response.write(step.raw);
    else if ('cut' in step) cut = true;
    else if ('until' in step) await step.until;
    else if ('stall' in step) {
      response.flushHeaders();
      if (!response.destroyed) await once(response, 'close');
      return;
    }
  }
  stream.end(cut);
  response.end();
}

interface WireStream {
  begin(): void;
  text(text: string): void;
  tool(name: string, input: string): void;
  usage(usage: { input: number; output: number }): void;
  end(cut: boolean): void;
}

/** Texts come in pieces. */
const pieces = (text: string): string[] => text.match(/[\s\S]{1,12}/g) ?? [];

function openAiStream(response: ServerResponse): WireStream {
  let calls = 0;
  const send = (choices: unknown[], more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more })}\n\n`,
    );
  const delta = (delta: object, finish_reason: string | null = null) =>
    send([{ index: 0, delta, finish_reason }]);
  return {
    begin: () => delta({ role: 'assistant', content: '' }),
    text(text) {
      for (const content of pieces(text)) delta({ content });
    },
    tool(name, input) {
      const index = calls;
      calls += 1;
      delta({
        tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }],
      });
      for (const piece of pieces(input)) delta({ tool_calls: [{ index, function: { arguments: piece } }] });
    },
    usage: ({ input, output }) =>
      send([], { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } }),
    end(cut) {
      delta({}, cut ? 'length' : calls > 0 ? 'tool_calls' : 'stop');
      response.write('data: [DONE]\n\n');
    },
  };
}

function anthropicStream(response: ServerResponse): WireStream {
  let index = -1;
  let output = 1;
  let hasTool = false;
  const send = (type: string, more: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  function block(content_block: object, deltas: object[]) {
    index += 1;
    send('content_block_start', { index, content_block });
    for (const delta of deltas) send('content_block_delta', { index, delta });
    send('content_block_stop', { index });
  }
  const start = (input: number) =>
    send('message_start', {
      message: {
        ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null },
        ...{ stop_sequence: null, usage: { input_tokens: input, output_tokens: 1 } },
      },
    });
  return {
    begin: () => void start(0),
    text: (text) =>
      block(
        { type: 'text', text: '' },
        pieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
      ),
    tool(name, input) {
      hasTool = true;
      block(
        { type: 'tool_use', id: `toolu_${index + 1}`, name, input: {} },
        pieces(input).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      );
    },
    usage(usage) {
      output = usage.output;
      start(usage.input);
    },
    end(cut) {
      const stop_reason = cut ? 'max_tokens' : hasTool ? 'tool_use' : 'end_turn';
      send('message_delta', {
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: output },
      });
      send('message_stop', {});
    },
  };
}
