/** An HTTP server that notifications are sent to, with faults on purpose. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedMessage {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Of the answer; 0 while it is held. */
  status: number;
}

/** What the format `standard` has of one alert, and of several. */
export interface StandardBody {
  type: string;
  timestamp: string;
  data: { eventId: string; status: string; total?: number; events?: { eventId: string; status: string }[] };
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
}

/** `hold` leaves a request without an answer until `release`, `cut` breaks its connection. */
export type Reaction = Answer | 'hold' | 'cut';

export class WebhookReceiver {
  readonly messages: ReceivedMessage[] = [];
  /** Of each request by itself. */
  react: (message: ReceivedMessage) => Reaction = () => ({ status: 200 });
  readonly #held: (() => void)[] = [];
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const message = {
        ...{ path: request.url ?? '', headers: request.headers, status: 0 },
        body: Buffer.concat(chunks).toString(),
      };
      this.messages.push(message);
      this.#answer(message, response, this.react(message));
    });
  });

  /** Listens on a port that is free, or on one that it had before. */
  static async start(port = 0): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  #answer(message: ReceivedMessage, response: ServerResponse, reaction: Reaction): void {
    if (reaction === 'cut') response.destroy();
    else if (reaction === 'hold') this.#held.push(() => this.#answer(message, response, { status: 200 }));
    else {
      message.status = reaction.status;
      response.writeHead(reaction.status, reaction.headers).end('the answer');
    }
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }
  get url(): string {
    return `http://127.0.0.1:${this.port}/in`;
  }
  get held(): number {
    return this.#held.length;
  }
  /** Bodies of what was taken, in order. */
  get taken(): StandardBody[] {
    return this.messages
      .filter(({ status }) => status >= 200 && status < 300)
      .map(({ body }) => JSON.parse(body));
  }

  release(): void {
    for (const answer of this.#held.splice(0)) answer();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
