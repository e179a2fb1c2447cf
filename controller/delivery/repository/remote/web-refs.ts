/** Asks a git server over HTTP(S) for the commits of its refs: two small requests, no process and no download. */
import * as http from 'node:http';
import * as https from 'node:https';
import git, { type GitHttpRequest, type GitHttpResponse, type HttpClient } from 'isomorphic-git';
import { secureContextWith } from '../../../platform/net/certificate-authorities.ts';
import { isUntrusted, TargetRefusedError } from '../../../platform/net/outgoing/index.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { RepositoryError } from '../repository-error.ts';
import {
  assertAllowed,
  certificate,
  dumbServer,
  notGit,
  notReached,
  proxyFault,
  redirectError,
  sha256Repository,
  statusError,
  tlsRequired,
} from './explain-run.ts';
import { MAX_REDIRECTS, REDIRECTS, readRedirect } from './redirect.ts';
import type { Remote } from './remote.ts';

/** A server with protocol version 0 lists all its refs. */
const REPLY_BYTES = 16 * 1024 * 1024;
const MAX_WAIT_MS = 60 * 60_000;

/**
 * Ids by full name, for those of `names` that the server has. The names are tried in order until one exists; `deadlineMs` covers
 * everything. Follows redirects within the origin and stores the final address in `remote.endpoint`.
 */
export async function webRefs(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
  deadlineMs: number,
): Promise<ReadonlyMap<string, string>> {
  const { address } = remote;
  const secure = address.transport === 'https';
  assertAllowed(remote);
  const agent = agentFor(remote);
  const deadline = AbortSignal.timeout(deadlineMs);
  const both = AbortSignal.any([signal, deadline]);
  const sending: Sending = { agent, secure, signal: both, fault: null };
  const client: HttpClient = { request: (request) => send(remote, request, sending) };
  const authorization = await remote.authorization();
  const headers = { 'user-agent': 'git/headgate', ...(authorization ? { authorization } : {}) };
  const list = (url: string, prefix: string) => git.listServerRefs({ http: client, url, prefix, headers });
  let url = address.url;
  let redirects = 0;
  async function listFollowing(prefix: string): ReturnType<typeof list> {
    for (;;) {
      try {
        return await list(url, prefix);
      } catch (error) {
        if (!(error instanceof Redirected)) throw error;
        redirects += 1;
        if (redirects > MAX_REDIRECTS) throw redirectError(remote, 'circle');
        url = error.url;
      }
    }
  }
  try {
    for (const name of names) {
      const refs = await listFollowing(name);
      // Resolved by each call, so that a repository that moves again, or back, is found.
      remote.endpoint = url;
      const found = refs.find(({ ref }) => ref === name);
      if (found) return new Map([[name, found.oid]]);
    }
    return new Map();
  } catch (error) {
    signal.throwIfAborted();
    throw deadline.aborted
      ? notReached(remote, 'no answer in time')
      : explain(remote, sending.fault ?? error);
  } finally {
    agent.destroy();
  }
}

/** The repository has another address within its origin. */
class Redirected extends Error {
  readonly url: string;
  constructor(url: string) {
    super('redirected');
    this.url = url;
  }
}

function agentFor({ address, caCertificate, proxy, guard }: Remote): http.Agent {
  // The proxy resolves names, and its operator decides what it reaches.
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
  /** An error found while an answer is read: isomorphic-git does not pass on what is thrown there. */
  fault: RepositoryError | null;
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
    const text = await beginningOf(incoming);
    if (REDIRECTS.has(status)) {
      const redirect = readRedirect(incoming.headers.location, url);
      if (redirect.url === null || !redirect.sameOrigin) throw redirectError(remote, redirect.display);
      throw new Redirected(redirect.url);
    }
    if (status === 400 && !sending.secure && TLS_EXPECTED.test(text)) throw tlsRequired(remote);
    const retryAfterMs = waitOf(incoming.headers['retry-after']);
    throw statusError(remote, status, retryAfterMs === null ? {} : { retryAfterMs });
  }
  const type = incoming.headers['content-type'] ?? '';
  if (method === 'GET' && !type.startsWith('application/x-git-')) {
    const text = await beginningOf(incoming);
    throw /^[0-9a-f]{40,64}\trefs\//.test(text) ? dumbServer(remote) : notGit(remote, type);
  }
  const flat = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
  return {
    url,
    method,
    headers: Object.fromEntries(flat),
    statusCode: status,
    statusMessage: incoming.statusMessage ?? '',
    body: bounded(remote, incoming, sending),
  };
}

/** The answers of nginx, Apache and Go to plain HTTP on a TLS port. */
const TLS_EXPECTED =
  /plain HTTP request was sent to HTTPS port|speaking plain HTTP to an SSL-enabled|sent an HTTP request to an HTTPS server/i;
const BEGINNING_BYTES = 4_096;

/** Reads enough of an answer to recognize it. */
async function beginningOf(incoming: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= BEGINNING_BYTES) break;
    }
  } catch {
    // What was read is enough.
  }
  incoming.destroy();
  return Buffer.concat(chunks).subarray(0, BEGINNING_BYTES).toString('utf8');
}

async function* bounded(
  { address: { host } }: Remote,
  incoming: http.IncomingMessage,
  sending: Sending,
): AsyncIterableIterator<Uint8Array> {
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    // The object format is among the capabilities, which come first. Read as SHA-1, such a server would seem to have no branches.
    if (size === 0 && chunk.includes('object-format=sha256')) {
      incoming.destroy();
      sending.fault = sha256Repository();
      throw sending.fault;
    }
    size += chunk.length;
    if (size > REPLY_BYTES) {
      incoming.destroy();
      sending.fault = new RepositoryError(
        'too-large',
        `${host} has more branches than Headgate reads (16 MiB)`,
      );
      throw sending.fault;
    }
    yield chunk;
  }
}

/** Seconds or a date, as in HTTP. */
function waitOf(header: string | undefined): number | null {
  if (header === undefined) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), MAX_WAIT_MS) : null;
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
  // Errors of isomorphic-git have their name as their code.
  const isConnection = typeof code === 'string' && code !== name;
  if (isConnection || error instanceof TargetRefusedError) return notReached(remote, error);
  return new RepositoryError(
    'server',
    `${remote.address.host} answers with something that is not git (${remote.redact(messageOf(error)).slice(0, 100)}); compare the address`,
  );
}
