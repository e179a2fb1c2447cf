import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';

export interface Received {
  method: string;
  headers: IncomingHttpHeaders;
  /** Decompressed. */
  body: string;
  status: number;
}

/** An HTTP server of 127.0.0.1 that keeps what it is sent. */
export class Receiver {
  readonly requests: Received[] = [];
  /** The status of the next answers; undefined leaves a request without one. */
  status: number | undefined = 200;
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const { status } = this;
      this.requests.push({
        method: request.method ?? '',
        headers: request.headers,
        body: (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString(),
        status: status ?? 0,
      });
      if (status !== undefined) response.writeHead(status).end('the answer');
    });
  });

  /** Listens on a port that is free, or on one that it had before. */
  static async start(port = 0): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get port(): number {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('The receiver does not listen.');
    return address.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/in`;
  }

  /** The events of every request that was answered with success, from JSON arrays. */
  get accepted(): Record<string, unknown>[] {
    return this.requests
      .filter(({ status, method }) => status === 200 && method !== 'HEAD')
      .flatMap(({ body }): Record<string, unknown>[] => JSON.parse(body));
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
