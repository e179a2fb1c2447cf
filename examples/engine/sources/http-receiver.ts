import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { matchesGlob } from 'node:path';
import type { SourceContext } from '../component.ts';
import { addressText } from '../config/address.ts';
import { type LogEvent, logBatch, Timestamp } from '../event.ts';
import { listen } from '../http-listen.ts';
import { addSourceFields, DecodeError, insertMissing } from './decoding.ts';
import { Framer, type Framing } from './framing.ts';
import {
  BodyBudget,
  decompress,
  MAX_BODY_BYTES,
  RequestAborted,
  RequestError,
  readBody,
} from './http-body.ts';
import type { HttpServerOptions } from './http-server.ts';

const REQUEST_TIMEOUT_MS = 60_000;
const MAX_CONNECTIONS = 1_000;
/** What requests may hold together while they arrive and while they wait for room. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/** Time for bodies that are still arriving when the source stops; their clients got no answer and send again. */
const STOP_GRACE_MS = 5_000;

/** What a request asks for. The path is as it was sent: nothing in it is decoded or resolved. */
interface Target {
  path: string;
  parameters: URLSearchParams;
}

function targetOf({ url = '/' }: IncomingMessage): Target {
  const at = url.indexOf('?');
  if (at < 0) return { path: url, parameters: new URLSearchParams() };
  return { path: url.slice(0, at), parameters: new URLSearchParams(url.slice(at + 1)) };
}

/** As Vector prints it: the error's own form, not its text. */
function bindErrorText(error: Error): string {
  const [, words, code] = /^(.*) \(os error (\d+)\)$/.exec(error.message) ?? [];
  if (words === undefined) return `TCP bind failed: ${error.message}`;
  const kinds: Record<string, string> = { 13: 'PermissionDenied', 98: 'AddrInUse', 99: 'AddrNotAvailable' };
  const kind = kinds[code!] ?? 'Uncategorized';
  return `TcpBind { source: Os { code: ${code}, kind: ${kind}, message: "${words}" } }`;
}

/** The names between the slashes of a path. */
export function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** The server of one `http_server` source. */
export class HttpReceiver {
  readonly #options: HttpServerOptions;
  readonly #context: SourceContext;
  readonly #budget = new BodyBudget(MAX_HELD_BYTES);
  readonly #arriving = new Set<IncomingMessage>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #labels: { http_path: string; protocol: string };

  constructor(options: HttpServerOptions, context: SourceContext) {
    this.#options = options;
    this.#context = context;
    // The configured path: how a request writes it is the client's choice and must not make series without end.
    this.#labels = { http_path: `/${options.path.join('/')}`, protocol: 'http' };
  }

  /** Listens until the signal aborts and every request that was taken is answered. Throws if the address is taken. */
  async run(): Promise<void> {
    const { log, signal } = this.#context;
    const { address } = this.#options;
    log.info('Building HTTP server.', { address: addressText(address) });
    const server = await listen(address, (request, response) => this.#begin(request, response), {
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      maxConnections: MAX_CONNECTIONS,
    }).catch((error: Error) => {
      throw new Error(`An error occurred: ${bindErrorText(error)}.`);
    });
    log.debug('Listening.', { address: addressText(server.address) });
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    server.refuse();
    const grace = setTimeout(() => {
      for (const request of this.#arriving) request.destroy();
    }, STOP_GRACE_MS);
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    clearTimeout(grace);
    await server.close();
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    const answered = this.#handle(request, response).finally(() => this.#underWay.delete(answered));
    this.#underWay.add(answered);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { log, metrics, signal, send } = this.#context;
    let held = 0;
    try {
      const target = targetOf(request);
      if (request.method === 'GET' && target.path === '/ping' && !this.#isOurs(request, target)) {
        response.end('pong');
        return;
      }
      this.#admit(request, target);
      this.#arriving.add(request);
      const body = await readBody(request, this.#budget, (bytes) => {
        held += bytes;
      });
      this.#arriving.delete(request);
      const text = await decompress(body, request.headers['content-encoding'] ?? '');
      if (text !== body) {
        this.#budget.take(text.length);
        held += text.length;
      }
      metrics.wireBytes('received', 'http', this.#labels).value += text.length;
      const events = this.#decode(text);
      this.#enrich(events, request, target);
      metrics.labelReceived(this.#labels);
      if (events.length > 0) await send(logBatch(events));
      if (signal.aborted) response.setHeader('connection', 'close');
      response.writeHead(this.#options.responseCode).end();
    } catch (error) {
      if (error instanceof RequestAborted) return;
      const refusal =
        error instanceof RequestError ? error : new RequestError(500, 'The request could not be handled');
      metrics.error('request_failed', 'receiving');
      log.limited('warn', 'Received bad request.', {
        error: (error as Error).message,
        http_code: refusal.status,
      });
      refuse(response, refusal);
    } finally {
      this.#arriving.delete(request);
      this.#budget.give(held);
    }
  }

  #isOurs(request: IncomingMessage, target: Target): boolean {
    return request.method === this.#options.method && this.#matchesPath(target);
  }

  #matchesPath(target: Target): boolean {
    const { path, strictPath } = this.#options;
    const segments = segmentsOf(target.path);
    if (strictPath && segments.length !== path.length) return false;
    return path.every((segment, index) => segments[index] === segment);
  }

  /** Refuses before the body is read, so that a stranger's bytes are never held. */
  #admit(request: IncomingMessage, target: Target): void {
    const { authorization, method } = this.#options;
    if (!this.#matchesPath(target)) throw new RequestError(404, 'Not found');
    if (request.method !== method) throw new RequestError(405, 'HTTP method not allowed');
    if (authorization === undefined) return;
    const given = request.headers.authorization;
    if (given === undefined) throw new RequestError(401, 'No authorization header');
    if (!isSame(given, authorization)) throw new RequestError(401, 'Invalid username/password');
  }

  /** All events of a body or, where one frame is bad, none: the client sends the whole again. */
  #decode(body: Buffer): LogEvent[] {
    const { log, metrics } = this.#context;
    try {
      return framesOf(body, this.#options.framing, () => {
        metrics.discarded(1, false);
        log.limited('warn', 'Discarding frame larger than max_length.');
      }).flatMap(this.#options.decode);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      metrics.error('parser_failed', 'processing');
      throw new RequestError(400, `Failed decoding body: ${error.message}`);
    }
  }

  #enrich(events: LogEvent[], request: IncomingMessage, target: Target): void {
    const { pathKey, hostKey } = this.#options;
    const { logSchema } = this.#context.globals;
    const headers = pick(this.#options.headers, request.headers);
    const parameters = pick(this.#options.queryParameters, Object.fromEntries(target.parameters));
    const timestamp = Timestamp.now();
    for (const event of events) {
      if (pathKey) insertMissing(event, pathKey, target.path);
      addSourceFields(event, logSchema, 'http_server', timestamp);
      if (hostKey) event[hostKey] = request.socket.remoteAddress?.replace(/^::ffff:/, '') ?? null;
      // A header yields to a field of the body, a query parameter replaces it.
      for (const [name, value] of headers) insertMissing(event, name, value);
      for (const [name, value] of parameters) event[name] = value;
    }
  }
}

function refuse(response: ServerResponse, { status, message }: RequestError): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(status === 503 && { 'retry-after': '1' }),
  });
  response.end(JSON.stringify({ code: status, message }));
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function framesOf(body: Buffer, framing: Framing, onTooLong: () => void): Buffer[] {
  if (framing.method === 'bytes') return body.length === 0 ? [] : [body];
  const framer = new Framer({
    delimiter: framing.delimiter,
    maxLength: framing.maxLength ?? MAX_BODY_BYTES,
    onTooLong: () => {
      onTooLong();
      return false;
    },
  });
  return [...framer.push(body), ...framer.end()];
}

/** The wanted values by name; a name that is missing is null, and a pattern takes what there is. */
function pick(
  wanted: readonly string[],
  values: Record<string, string | string[] | undefined>,
): [string, unknown][] {
  const textOf = (value: string | string[] | undefined) =>
    Array.isArray(value) ? (value[0] ?? null) : (value ?? null);
  return wanted.flatMap((name): [string, unknown][] => {
    if (!/[*?[]/.test(name)) return [[name, textOf(values[name] ?? values[name.toLowerCase()])]];
    const pattern = name.toLowerCase();
    return Object.entries(values)
      .filter(([key]) => matchesGlob(key.toLowerCase().replaceAll('/', '_'), pattern))
      .map(([key, value]) => [key, textOf(value)]);
  });
}
