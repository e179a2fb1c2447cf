/** HTTP calls with limits. A redirect is an error and is not followed, because the request carries credentials. */
import * as http from 'node:http';
import * as https from 'node:https';
import { isUntrusted, type TargetGuard } from '../../platform/net/outgoing/index.ts';
import { type ProxySettings, proxyFor } from '../../platform/net/proxies.ts';
import { BACKEND_LIMITS, BackendError } from './backend.ts';

export interface Reply {
  status: number;
  /** Undefined where the body is empty. */
  body: unknown;
}

/** Connections are reused within one pass. We close idle ones before the server does, or a request could meet the closing. */
const IDLE_MS = 2_000;

export const recordOf = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;

export interface Caller {
  call(
    path: string,
    options: { method?: string; headers?: Record<string, string>; body?: unknown; signal: AbortSignal },
  ): Promise<Reply>;
  close(): void;
}

export interface CallerParts {
  /** PEM of the authority that is trusted instead of the system's. */
  ca: string | undefined;
  guard: TargetGuard;
  proxies: ProxySettings;
  /** The client certificate, where the server asks for one. */
  identity?: { cert?: string; key?: string | undefined };
}

/** `base` may have a path; the `path` of a call is appended to it. */
export function createCaller(base: string, { ca, guard, proxies, identity = {} }: CallerParts): Caller {
  const { protocol, hostname, port } = new URL(base);
  const root = base.replace(/\/+$/, '');
  const secure = protocol === 'https:';
  const transport = secure ? 'https' : 'http';
  const target = {
    transport,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (secure ? 443 : 80)),
  } as const;
  const proxy = proxyFor(target, proxies);
  const options = {
    keepAlive: true,
    maxSockets: BACKEND_LIMITS.parallel,
    timeout: IDLE_MS,
    // With a proxy, the proxy resolves host names and its operator decides which targets it reaches.
    ...(proxy === null
      ? { lookup: guard.lookup }
      : { proxyEnv: { [secure ? 'HTTPS_PROXY' : 'HTTP_PROXY']: proxy.href } }),
  };
  const agent = secure
    ? new https.Agent({ ...options, ...(ca === undefined ? {} : { ca }), ...identity })
    : new http.Agent(options);
  const request = secure ? https.request : http.request;

  return {
    async call(path, { method = 'GET', headers = {}, body, signal }) {
      const deadline = AbortSignal.timeout(BACKEND_LIMITS.deadlineMs);
      const text = body === undefined ? undefined : JSON.stringify(body);
      const url = `${root}${path}`;
      const send = {
        method,
        agent,
        headers: {
          accept: 'application/json',
          ...(text ? { 'content-type': 'application/json' } : {}),
          ...headers,
        },
        signal: AbortSignal.any([signal, deadline]),
      };
      try {
        guard.assertHost(hostname);
        return await new Promise<Reply>((resolve, reject) => {
          const outgoing = request(url, send, (incoming) =>
            receive(incoming, outgoing, root).then(resolve, reject),
          );
          outgoing.on('error', reject);
          outgoing.end(text);
        });
      } catch (error) {
        signal.throwIfAborted();
        throw toBackendError(error, root, guard);
      }
    },
    close: () => agent.destroy(),
  };
}

async function receive(
  incoming: http.IncomingMessage,
  outgoing: http.ClientRequest,
  root: string,
): Promise<Reply> {
  const status = incoming.statusCode ?? 0;
  if (status >= 300 && status < 400) {
    outgoing.destroy();
    const target = URL.parse(incoming.headers.location ?? '', root)?.origin ?? 'another address';
    throw new BackendError(
      'refused',
      `${root} redirects to ${target}, and redirects are not followed; set the address of the store itself`,
    );
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BACKEND_LIMITS.replyBytes) {
      outgoing.destroy();
      throw new BackendError('entry', `${root} answers with more than 1 MiB; is it the right address?`);
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (text.trim() === '') return { status, body: undefined };
  try {
    return { status, body: JSON.parse(text) };
  } catch {
    throw new BackendError(
      'refused',
      `${root} answers with status ${status} and something that is not JSON; is it the right address?`,
    );
  }
}

function toBackendError(error: unknown, root: string, guard: TargetGuard): BackendError {
  if (error instanceof BackendError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && isUntrusted(code)) {
    return new BackendError(
      'refused',
      `the certificate of ${root} is not trusted (${code}); set "ca" to the authority that signed it, and use an address that the certificate names`,
    );
  }
  return new BackendError('unreachable', guard.unreachable(root, error));
}
