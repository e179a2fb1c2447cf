/** One request at a time over a connection of its own, with the headers exactly as given. */
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';

export interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body as JSON. */
  json<T = Record<string, unknown>>(): T;
}

export interface SendOptions {
  method?: string;
  headers?: OutgoingHttpHeaders;
  /** An object goes as JSON with its content type; text, bytes and chunks as they are. */
  body?: unknown;
}

export function send(url: string, options: SendOptions = {}): Promise<HttpResponse> {
  const { body } = options;
  const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  const headers = isRaw ? options.headers : { 'content-type': 'application/json', ...options.headers };
  const method = options.method ?? (body === undefined ? 'GET' : 'POST');
  return new Promise((resolve, reject) => {
    const call = request(url, { method, headers: headers ?? {}, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const { statusCode = 0, headers: received } = response;
        resolve({ status: statusCode, headers: received, text, json: () => JSON.parse(text) });
      });
    });
    call.on('error', reject);
    call.end(isRaw ? (body as string | Uint8Array | undefined) : JSON.stringify(body));
  });
}

/** An open stream of server-sent events. */
export interface OpenStream {
  status: number;
  headers: IncomingHttpHeaders;
  /** Everything that has come so far. */
  text(): string;
  /** The data of every event of a type that has come so far. */
  events<T = Record<string, unknown>>(type: string): T[];
  ended(): boolean;
  /** Whether it came to its own end, and was not cut off. */
  whole(): boolean;
  close(): void;
}

export function openStream(url: string, headers: OutgoingHttpHeaders): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const call = request(url, { headers, agent: false }, (response) => {
      let text = '';
      let ended = false;
      response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
      response.on('close', () => (ended = true));
      response.on('error', () => (ended = true));
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: () => text,
        events: (type) =>
          [...text.matchAll(/event: (.*)\ndata: (.*)\n\n/g)].flatMap(([, name, data]) =>
            name === type ? [JSON.parse(data ?? '')] : [],
          ),
        ended: () => ended,
        whole: () => response.complete,
        close: () => void response.destroy(),
      });
    });
    call.on('error', reject);
    call.end();
  });
}
