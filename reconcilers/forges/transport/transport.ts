/**
 * The only way to a forge: bounded in time and size, by the proxies of the network, to one address and to no other. What
 * the client libraries are given as `fetch`; it answers what went well, and throws a `ForgeError` for everything else.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher, ProxyAgent, request } from 'undici';
import { redactor, secureContextWith } from '../../../controller/delivery/repository/index.ts';
import type { TargetGuard } from '../../../controller/platform/net/outgoing/index.ts';
import { type ProxySettings, proxyFor } from '../../../controller/platform/net/proxies.ts';
import type { Logger } from '../../../controller/platform/runtime/logger.ts';
import { ForgeError } from '../forge.ts';
import { explainFailure, faultOf, notJson, notTaken, redirected, tooLarge } from './faults.ts';
import { createResponseCache, withPages } from './response-cache.ts';

export const TRANSPORT_LIMITS = {
  /** Of a call with its repetitions. */
  deadlineMs: 30_000,
  replyBytes: 8 * 1024 * 1024,
  /** Of what only asks, after a fault that may be over in a moment. */
  retries: 2,
  retryMs: 300,
};
export type TransportLimits = typeof TRANSPORT_LIMITS;

/** Connections are given up before the other side does so just as one is used. */
const IDLE_MS = 2_000;
const CONNECTIONS = 4;
const MOST_LATER = 8;
/** RFC 9110 §15.3.4; how Azure DevOps answers a token that it does not take: with the page on which people sign in. */
const SIGN_IN_PAGE = 203;

export interface TransportOptions {
  /** Where the API is, without a slash at its end. */
  base: string;
  /** A path of the same origin that may be asked too. */
  beside?: string;
  /** In messages for users: `GitHub at api.github.com`. */
  label: string;
  /** Never to be seen in any message. */
  token: string;
  /** PEM that is trusted beside the system's authorities. */
  caCertificate: string | null;
  guard: TargetGuard;
  proxies: ProxySettings;
  log: Logger;
  limits?: Partial<TransportLimits>;
  now?: () => number;
  /** What others that ask with the same token know as well. */
  hold?: Hold;
}

/** Until when a token is not used, as the forge asked for. */
export interface Hold {
  until: Date | null;
  /** How often in a row it has asked for that. */
  times: number;
}

export const noHold = (): Hold => ({ until: null, times: 0 });

/** Where it says "too often", and not for how long: what GitHub asks for, and longer each time. */
const usualWaitMs = ({ times }: Hold): number => 60_000 * 2 ** Math.min(times, 6);

export interface Transport {
  readonly label: string;
  /** Takes the token, and the password of the proxy, out of a text. */
  readonly redact: (text: string) => string;
  /** A token that came later; the last few are remembered. */
  alsoRedact(secret: string): void;
  readonly fetch: (
    url: string | URL | Request,
    init?: { method?: string; headers?: unknown; body?: unknown },
  ) => Promise<Response>;
  /** Calls that are under way go on to their end. */
  close(): Promise<void>;
  /** They end at once. */
  destroy(): Promise<void>;
}

interface Sent {
  method: string;
  headers: Record<string, string>;
  body: string | null;
}

export function createTransport(options: TransportOptions): Transport {
  const { label, log, now = Date.now } = options;
  const limits = { ...TRANSPORT_LIMITS, ...options.limits };
  const base = new URL(options.base);
  const way = createWay(options, base);
  const hold = options.hold ?? noHold();
  const known = createResponseCache();
  const later: ((text: string) => string)[] = [];
  const redact = (text: string) => later.reduce((safe, one) => one(safe), way.redact(text));

  async function once(url: URL, sent: Sent, signal: AbortSignal): Promise<Response> {
    const began = now();
    const before = sent.method === 'GET' ? known.of(url, sent.headers) : null;
    const answer = await request(url, {
      dispatcher: way.dispatcher(),
      method: sent.method as Dispatcher.HttpMethod,
      headers: {
        ...{ accept: 'application/json', ...sent.headers, 'user-agent': 'headgate' },
        ...(before ? { 'if-none-match': before.etag } : {}),
      },
      body: sent.body,
      signal,
    });
    const { statusCode: status, headers: raw } = answer;
    const headers = new Headers(
      Object.entries(raw).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)] as [string, string]],
      ),
    );
    log.debug({ method: sent.method, path: url.pathname, status, ms: now() - began }, `asked ${label}`);
    // RFC 9110 §15.4.5: it is as it was, and what this answer says of itself is newer.
    if (status === 304 && before) {
      discard(answer.body);
      return new Response(before.text, { status: 200, headers: withPages(before.headers, headers) });
    }
    if (status >= 300 && status < 400) {
      discard(answer.body);
      throw redirected(label, headers.get('location'), url);
    }
    const text = await readBody(answer, limits.replyBytes, label);
    if (status >= 400)
      throw faultOf({ label, status, headers, text, redact, now: now(), usualWaitMs: usualWaitMs(hold) });
    if (text.trim() === '') return new Response(null, { status: 204, headers });
    if (!isJson(text)) throw status === SIGN_IN_PAGE ? notTaken(label) : notJson(label, status);
    headers.set('content-type', 'application/json; charset=utf-8');
    if (sent.method === 'GET') known.keep(url, sent.headers, { headers, text });
    return new Response(text, { status, headers });
  }

  async function again(url: URL, sent: Sent): Promise<Response> {
    const deadline = AbortSignal.timeout(limits.deadlineMs);
    const safe = sent.method === 'GET' || sent.method === 'HEAD';
    for (let attempt = 0; ; attempt += 1) {
      const error = await once(url, sent, deadline).catch((failure: unknown) =>
        explainFailure(failure, {
          label,
          redact,
          late: deadline.aborted,
          guard: options.guard,
        }),
      );
      if (error instanceof Response) {
        hold.times = 0;
        return error;
      }
      if (error.fault === 'rate-limited') {
        hold.until = error.retryAt;
        hold.times += 1;
      }
      const mayPass = error.fault === 'unavailable' && error.passing && error.retryAt === null;
      if (!safe || !mayPass || attempt >= limits.retries || deadline.aborted) throw error;
      // Half to one and a half of it, so that many who failed together do not come back together.
      const pauseMs = limits.retryMs * 2 ** attempt * (0.5 + Math.random());
      await sleep(pauseMs, undefined, { signal: deadline }).catch(() => {
        throw error;
      });
    }
  }

  return {
    label,
    redact,
    alsoRedact(secret) {
      later.push(redactorOf(secret, null));
      if (later.length > MOST_LATER) later.shift();
    },
    async fetch(given, init = {}) {
      const url = new URL(given instanceof Request ? given.url : given);
      const mayAsk = isBelow(url.pathname, base.pathname) || url.pathname === options.beside;
      if (url.origin !== base.origin || !mayAsk)
        throw new ForgeError(
          'unavailable',
          `${label} names a page of ${url.origin}, which is not followed: the token is for ${base.origin} alone; is forge.url the address that the forge itself goes by?`,
        );
      if (hold.until && hold.until.getTime() > now())
        throw new ForgeError(
          'rate-limited',
          `${label} was asked too often; it is asked again later`,
          hold.until,
        );
      hold.until = null;
      return again(url, {
        method: (init.method ?? 'GET').toUpperCase(),
        headers: Object.fromEntries(new Headers(init.headers as ConstructorParameters<typeof Headers>[0])),
        body: typeof init.body === 'string' ? init.body : null,
      });
    },
    close: way.close,
    destroy: way.destroy,
  };
}

const isBelow = (path: string, base: string): boolean => {
  const root = base.replace(/\/+$/, '');
  return path === root || path.startsWith(`${root}/`);
};

/** Made when it is first asked for: an error of a proxy is the error of the request. */
function createWay({ token, caCertificate, guard, proxies, label }: TransportOptions, base: URL) {
  const secure = base.protocol === 'https:';
  const host = base.hostname.replace(/^\[|\]$/g, '');
  const target = {
    transport: secure ? ('https' as const) : ('http' as const),
    host,
    port: Number(base.port || (secure ? 443 : 80)),
  };
  let made: Dispatcher | null = null;
  let redact = redactorOf(token, null);

  function make(): Dispatcher {
    try {
      guard.assertHost(host);
    } catch (error) {
      throw new ForgeError('unavailable', guard.unreachable(label, error));
    }
    const proxy = proxyFor(target, proxies);
    redact = redactorOf(token, proxy);
    const tls = secure ? { secureContext: secureContextWith(caCertificate) } : {};
    const common = { connections: CONNECTIONS, keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS };
    // The proxy resolves names; its operator decides where it leads.
    if (proxy) return new ProxyAgent({ ...common, uri: proxy.href, requestTls: tls, proxyTunnel: secure });
    return new Agent({ ...common, connect: { ...tls, lookup: guard.lookup } });
  }

  return {
    dispatcher(): Dispatcher {
      try {
        made ??= make();
      } catch (error) {
        if (error instanceof ForgeError) throw error;
        throw new ForgeError('refused', `${label}: ${redact((error as Error).message)}`);
      }
      return made;
    },
    redact: (text: string) => redact(text),
    /** The next request opens it again. */
    async close() {
      const last = made;
      made = null;
      await last?.close();
    },
    destroy: async () => made?.destroy(),
  };
}

/** Of a token alone, and of both halves of `user:password`. */
function redactorOf(token: string, proxy: URL | null): (text: string) => string {
  const colon = token.indexOf(':');
  const ofNobody = redactor({ type: 'basic', username: '', password: token }, proxy);
  const ofSomebody = redactor({ type: 'basic', username: 'x', password: token }, proxy);
  const whole = (text: string) => ofSomebody(ofNobody(text));
  if (colon <= 0) return whole;
  const halves = { username: token.slice(0, colon), password: token.slice(colon + 1) };
  const parts = redactor({ type: 'basic', ...halves }, proxy);
  return (text) => parts(whole(text));
}

/** What is destroyed tells of it by an error, for which nobody waits any longer. */
function discard(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => {});
  body.destroy();
}

async function readBody(
  { body, headers }: Dispatcher.ResponseData,
  mostBytes: number,
  label: string,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = Number(headers['content-length'] ?? 0);
  if (size <= mostBytes) {
    size = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > mostBytes) break;
      chunks.push(chunk);
    }
  }
  if (size > mostBytes) {
    discard(body);
    throw tooLarge(label, mostBytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
