/**
 * The only way to an address that people gave the controller to ask: over http(s), to a host that may be asked, at the very
 * address that was checked, bounded in time and size. What a fetch is elsewhere.
 */
import { hash } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Dispatcher } from 'undici';
import type { Logger } from '../../runtime/logger.ts';
import { secureContextWith } from '../certificate-authorities.ts';
import { ProxyError, type ProxySettings, proxyFor } from '../proxies.ts';
import { failureOf } from './failure.ts';
import { checkedLookup, type TargetGuard } from './guard.ts';
import { discardBody, readBody, streamBody } from './read-body.ts';
import { forbiddenTarget, OutgoingError, readTarget, type Target, unreachable } from './target.ts';

export { createTargetGuard, isUntrusted, type TargetGuard, TargetRefusedError } from './guard.ts';
export { OutgoingError, type OutgoingFault } from './target.ts';

export const OUTGOING_LIMITS = { deadlineMs: 10_000, replyBytes: 1024 * 1024, redirects: 3 };
/** Of looking a name up before an address is stored. */
const LOOKUP_MS = 3_000;
/** Each authority that was ever given makes one. */
const MOST_WAYS = 50;
/** Connections are given up before the other side does so just as one is used. */
const IDLE_MS = 2_000;

export interface Asking {
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string | null;
  signal?: AbortSignal;
  deadlineMs?: number;
  /** Of the answer's body. */
  replyBytes?: number;
  /** PEM: authorities that are trusted beside the usual ones. */
  caCertificate?: string;
  /** How many are followed. Unless given, three of a GET and none of a POST, which follows 307 and 308 alone. */
  redirects?: number;
  /** Names of headers that no other host gets, beside those that usually carry credentials. */
  secretHeaders?: readonly string[];
  /** Leaves the body of the answer unread: its status is the answer. */
  ignoreBody?: true;
  /** The path of the address is a secret, which no log shows. */
  hasSecretPath?: boolean;
  /** The body is read as it comes. It breaks off at the deadline and at `replyBytes`, with an OutgoingError. */
  streamBody?: true;
}

export interface Outgoing {
  /** Whatever the status. @throws OutgoingError */
  ask(address: string | URL, how?: Asking): Promise<Response>;
  /** For an address that is to be stored: refuses what will never be asked. One whose name leads nowhere yet passes. @throws OutgoingError */
  check(address: string | URL): Promise<void>;
  close(): Promise<void>;
}

declare module '../../operation/context.ts' {
  interface Services {
    outgoing: Outgoing;
  }
}

export interface OutgoingOptions {
  guard: TargetGuard;
  proxies: ProxySettings;
  log: Logger;
}

/** Loaded by the first request: commands that make none start sooner. */
type Undici = typeof import('undici');

export function createOutgoing({ guard, proxies, log }: OutgoingOptions): Outgoing {
  const { policy } = guard;
  const ways = new Map<string, Dispatcher>();
  const common = { keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS };

  /** Names are looked up as the connection is made, and the addresses that were checked are the ones connected to. */
  function direct({ Agent }: Undici, { listedOnly }: Target, tls: object): Dispatcher {
    const lookup = checkedLookup((host, address) => policy.permits(host, address, listedOnly));
    return new Agent({ ...common, connect: { lookup, ...tls } });
  }

  function wayTo(undici: Undici, target: Target, caCertificate: string): Dispatcher {
    const proxy = proxyTo(target, proxies);
    // The proxy resolves names; its operator decides where it leads.
    if (proxy && !policy.permitsUnseen(target.host, target.listedOnly)) throw forbiddenTarget(target.url);
    const proxyTunnel = target.transport === 'https';
    const way = proxy ? `${proxy.href} ${proxyTunnel}` : `direct ${target.listedOnly}`;
    const key = `${way} ${caCertificate && hash('sha256', caCertificate)}`;
    const known = ways.get(key);
    if (known) return known;
    const tls = caCertificate === '' ? {} : { secureContext: secureContextWith(caCertificate) };
    const made = proxy
      ? new undici.ProxyAgent({ ...common, uri: proxy.href, proxyTunnel, requestTls: tls })
      : direct(undici, target, tls);
    const [oldest] = ways.keys();
    if (ways.size >= MOST_WAYS && oldest !== undefined) {
      void ways.get(oldest)?.close();
      ways.delete(oldest);
    }
    ways.set(key, made);
    return made;
  }

  async function once(target: Target, how: Asking, signal: AbortSignal): Promise<Response> {
    const method = how.method ?? 'GET';
    const undici = await import('undici');
    const answer = await undici
      .request(target.url, {
        dispatcher: wayTo(undici, target, how.caCertificate ?? ''),
        method,
        // Compressed answers would have a size of their own choice.
        headers: {
          accept: 'application/json',
          ...how.headers,
          'accept-encoding': 'identity',
          'user-agent': 'headgate',
        },
        body: how.body ?? null,
        signal,
      })
      .catch((error: unknown) => {
        const failure = failureOf(error);
        log.debug({ host: target.host, method, reason: failure.code }, 'not reached');
        throw unreachable(target.url, failure, policy.lists(target.host, failure.address));
      });
    const { statusCode: status } = answer;
    const path = how.hasSecretPath ? undefined : target.url.pathname;
    log.debug({ host: target.host, method, path, status }, 'asked');
    const mostBytes = how.replyBytes ?? OUTGOING_LIMITS.replyBytes;
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined && !/^(content-length|content-encoding|transfer-encoding)$/.test(name))
        headers.set(name, String(value));
    // There are no others, and what is made of them would be an error of ours.
    const isEmpty = [204, 205, 304].includes(status);
    if (how.streamBody && status >= 200 && status <= 599 && !isEmpty && !isRedirect(status))
      return new Response(streamBody(answer, mostBytes, target.url), { status, headers });
    const text = how.ignoreBody ? discardBody(answer) : await readBody(answer, mostBytes, target.url);
    if (status < 200 || status > 599) throw unreachable(target.url);
    return new Response(isEmpty ? null : text, { status, headers });
  }

  return {
    async ask(address, how = {}) {
      const late = AbortSignal.timeout(how.deadlineMs ?? OUTGOING_LIMITS.deadlineMs);
      const signal = how.signal ? AbortSignal.any([late, how.signal]) : late;
      let target = readTarget(address, policy);
      let { headers } = how;
      const isPost = how.method === 'POST';
      const mostRedirects = how.redirects ?? (isPost ? 0 : OUTGOING_LIMITS.redirects);
      for (let followed = 0; ; followed += 1) {
        const answer = await once(target, { ...how, ...(headers ? { headers } : {}) }, signal);
        const location = isRedirect(answer.status) ? answer.headers.get('location') : null;
        if (location === null) return answer;
        const next = URL.parse(location, target.url.href);
        const downgraded = target.transport === 'https' && next?.protocol !== 'https:';
        const becomesGet = isPost && ![307, 308].includes(answer.status);
        if (becomesGet || !next || downgraded || followed >= mostRedirects)
          throw new OutgoingError(
            'redirected',
            `${target.url.origin} leads elsewhere, which is not followed; give the address that it goes by`,
          );
        if (next.origin !== target.url.origin) headers = withoutCredentials(headers, how.secretHeaders);
        target = readTarget(next, policy);
      }
    },
    async check(address) {
      const target = readTarget(address, policy);
      const { host, listedOnly, url } = target;
      if (proxyTo(target, proxies)) {
        if (!policy.permitsUnseen(host, listedOnly)) throw forbiddenTarget(url);
        return;
      }
      if (isIP(host) !== 0) return;
      const given = new Promise<[]>((resolve) => setTimeout(resolve, LOOKUP_MS, []).unref());
      const found = await Promise.race([lookup(host, { all: true }).catch(() => []), given]);
      // What only a listed network could permit has to be seen to be in it.
      const unseen = found.length === 0 && !policy.permitsUnseen(host, listedOnly);
      if (unseen || found.some((one) => !policy.permits(host, one.address, listedOnly)))
        throw forbiddenTarget(url);
    },
    close: async () => {
      await Promise.all([...ways.values()].map((way) => way.destroy()));
    },
  };
}

function proxyTo(target: Target, proxies: ProxySettings): URL | null {
  try {
    return proxyFor(target, proxies);
  } catch (error) {
    if (error instanceof ProxyError) throw new OutgoingError('unreachable', error.message);
    throw error;
  }
}

const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status);

const CREDENTIALS = /^(authorization|cookie|proxy-authorization|.*signature.*)$/i;
function withoutCredentials(
  headers: Asking['headers'] = {},
  secretHeaders: readonly string[] = [],
): Record<string, string> {
  const secret = new Set(secretHeaders.map((name) => name.toLowerCase()));
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !CREDENTIALS.test(name) && !secret.has(name.toLowerCase())),
  );
}
