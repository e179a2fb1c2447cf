/** Asks a git server over HTTP(S) where its refs stand: two small requests, no process and no download. */
import * as http from 'node:http';
import * as https from 'node:https';
import git, { type GitHttpRequest, type GitHttpResponse, type HttpClient } from 'isomorphic-git';
import { messageOf } from '../platform/errors.ts';
import { isUntrusted, TargetRefusedError } from '../platform/outgoing/index.ts';
import { secureContextWith } from './authorities.ts';
import { authorizationOf } from './credentials.ts';
import { assertAllowed, certificate, notReached, proxyFault, statusError } from './explain.ts';
import type { Remote } from './remote.ts';
import { RepositoryError } from './repository-error.ts';

/** A server of an earlier protocol tells all its refs. */
const REPLY_BYTES = 16 * 1024 * 1024;
const LONGEST_WAIT_MS = 60 * 60_000;

/** Ids by full name, of those of `names` that the server has. Asked one after the other until one is there; `deadlineMs` is for all of it. */
export async function webRefs(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
  deadlineMs: number,
): Promise<ReadonlyMap<string, string>> {
  const { address, credentials } = remote;
  const secure = address.transport === 'https';
  assertAllowed(remote);
  const agent = agentFor(remote);
  const deadline = AbortSignal.timeout(deadlineMs);
  const both = AbortSignal.any([signal, deadline]);
  const client: HttpClient = {
    request: (request) => send(remote, request, { agent, secure, signal: both }),
  };
  const authorization = authorizationOf(credentials);
  try {
    for (const name of names) {
      const refs = await git.listServerRefs({
        http: client,
        url: address.url,
        prefix: name,
        headers: {
          'user-agent': 'git/headgate',
          ...(authorization ? { authorization } : {}),
        },
      });
      const found = refs.find(({ ref }) => ref === name);
      if (found) return new Map([[name, found.oid]]);
    }
    return new Map();
  } catch (error) {
    signal.throwIfAborted();
    throw deadline.aborted ? notReached(remote, 'no answer in time') : explain(remote, error);
  } finally {
    agent.destroy();
  }
}

function agentFor({ address, caCertificate, proxy, guard }: Remote): http.Agent {
  // The proxy looks names up, and whoever runs it says where it leads to.
  const way = proxy
    ? { proxyEnv: { HTTP_PROXY: proxy.href, HTTPS_PROXY: proxy.href } }
    : { lookup: guard.lookup };
  return address.transport === 'https'
    ? new https.Agent({ keepAlive: true, ...way, secureContext: secureContextWith(caCertificate) })
    : new http.Agent({ keepAlive: true, ...way });
}

interface Sending {
  agent: http.Agent;
  secure: boolean;
  signal: AbortSignal;
}

async function send(remote: Remote, request: GitHttpRequest, sending: Sending): Promise<GitHttpResponse> {
  const { url, method = 'GET', headers = {}, body } = request;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  const ask = sending.secure ? https.request : http.request;
  const { agent, signal } = sending;
  const incoming = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const outgoing = ask(url, { method, headers, agent, signal }, resolve);
    outgoing.on('error', reject);
    outgoing.end(Buffer.concat(chunks));
  });
  const status = incoming.statusCode ?? 0;
  if (status !== 200) {
    incoming.destroy();
    const { location } = incoming.headers;
    const target = location === undefined ? null : (URL.parse(location, url)?.origin ?? null);
    const retryAfterMs = waitOf(incoming.headers['retry-after']);
    throw statusError(remote, status, {
      location: target,
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
    });
  }
  const flat = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
  return {
    url,
    method,
    headers: Object.fromEntries(flat),
    statusCode: status,
    statusMessage: incoming.statusMessage ?? '',
    body: bounded(remote, incoming),
  };
}

async function* bounded(
  { address: { host } }: Remote,
  incoming: http.IncomingMessage,
): AsyncIterableIterator<Uint8Array> {
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > REPLY_BYTES) {
      incoming.destroy();
      throw new RepositoryError('too-large', `${host} tells of more branches than are read (16 MiB)`);
    }
    yield chunk;
  }
}

/** Seconds or a date, as HTTP has it. */
function waitOf(header: string | undefined): number | null {
  if (header === undefined) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), LONGEST_WAIT_MS) : null;
}

function explain(remote: Remote, error: unknown): RepositoryError {
  if (error instanceof RepositoryError) return error;
  const { code, name } = error as { code?: unknown; name?: string };
  if (code === 'ERR_PROXY_TUNNEL') {
    const { statusCode } = error as { statusCode?: number };
    return proxyFault(remote, String(statusCode ?? 'unknown'));
  }
  if (typeof code === 'string' && isUntrusted(code))
    return new RepositoryError('certificate', certificate(remote, code));
  // Those of isomorphic-git have their name as their code.
  const isConnection = typeof code === 'string' && code !== name;
  if (isConnection || error instanceof TargetRefusedError) return notReached(remote, error);
  return new RepositoryError(
    'server',
    `${remote.address.host} answers with something that is not git (${remote.redact(messageOf(error)).slice(0, 100)}); compare the address`,
  );
}
