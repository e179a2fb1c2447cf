/**
 * Vault's HTTP API as its documentation describes it, as far as Headgate uses it: tokens, AppRole and Kubernetes logins,
 * and the KV secrets engine of version 2 with check-and-set. Strict: what Vault would refuse is refused.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { TLSSocket } from 'node:tls';
import { LEAF, LEAF_KEY } from '../fixtures/certificates.ts';
import { useEach } from '../harness/use.ts';

interface Entry {
  /** Null for a version that was deleted. */
  versions: (Record<string, unknown> | null)[];
}

type Fault = 'none' | 'sealed' | 'silent' | 'huge' | 'html' | 'redirect' | 'echo';

export class VaultServer {
  /** By mount and path: `secret/team/db`. */
  readonly entries = new Map<string, Entry>();
  readonly requests: { method: string; path: string; token: string | undefined }[] = [];
  readonly tokens = new Set(['hvs.root-of-the-test']);
  readonly roles = new Map([['shop-role', 'shop-secret-id']]);
  /** The only service account that the role `headgate` is bound to. */
  serviceAccount = 'jwt-of-the-controller';
  /** The only JWT that is let in by the method `jwt`. */
  jwt = 'e30.e30.c2lnbmVk';
  /** The server id that the method `aws` asks for. */
  serverId = 'vault.example.com';
  namespace: string | undefined;
  fault: Fault = 'none';
  /** Paths that no policy allows. */
  readonly forbidden = new Set<string>();
  /** By path below /v1/: an answer of its own. */
  readonly broken = new Map<string, { status: number; errors: string[] }>();
  logins = 0;
  /** By mount; of others there is none. */
  readonly mounts = new Map<string, { type: string; version?: string }>([
    ['secret', { type: 'kv', version: '2' }],
    ['kv', { type: 'kv', version: '2' }],
  ]);
  /** Of what a login gives, or of the token: seconds, and how many requests it is good for; 0 without a limit. */
  life = { ttl: 3_600, renewable: true, uses: 0 };
  renewals = 0;
  /** Whether tokens have the policy `default`, by which they may look at and renew themselves. */
  hasDefaultPolicy = true;
  readonly #usesLeft = new Map<string, number>();
  /** Done before a request is answered. */
  before: ((method: string, path: string) => Promise<void>) | null = null;
  readonly #server;
  readonly #secure: boolean;

  private constructor(secure: boolean) {
    this.#secure = secure;
    const listener: RequestListener = (request, response) => void this.#take(request, response);
    this.#server = secure
      ? createSecureServer(
          { cert: LEAF, key: LEAF_KEY, requestCert: true, rejectUnauthorized: false },
          listener,
        )
      : createServer(listener);
  }

  static async start({ secure = false } = {}): Promise<VaultServer> {
    const vault = new VaultServer(secure);
    vault.#server.listen(0, '127.0.0.1');
    await once(vault.#server, 'listening');
    return vault;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('Vault does not listen.');
    return `${this.#secure ? 'https' : 'http'}://localhost:${address.port}`;
  }

  /** As an operator would with `vault kv put`. */
  put(path: string, data: Record<string, unknown>): void {
    const entry = this.entries.get(path) ?? { versions: [] };
    this.entries.set(path, { versions: [...entry.versions, data] });
  }

  get(path: string): Record<string, unknown> | null {
    return this.entries.get(path)?.versions.at(-1) ?? null;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const token = request.headers['x-vault-token'] as string | undefined;
    this.requests.push({ method, path: url, token });
    let body = '';
    for await (const chunk of request) body += String(chunk);
    await this.before?.(method, url);
    const say = (status: number, answer: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
    };
    const refuse = (status: number, ...errors: string[]) => say(status, { errors });
    switch (this.fault) {
      case 'silent':
        return;
      case 'sealed': {
        refuse(503, 'Vault is sealed');
        return;
      }
      case 'huge':
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(`"${'x'.repeat(2 * 1024 * 1024)}"`);
        return;
      case 'html':
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>sign in</html>');
        return;
      case 'redirect':
        response.writeHead(307, { location: `https://elsewhere.example.org${url}` }).end();
        return;
      case 'echo': {
        refuse(400, `bad token ${token}`, body);
        return;
      }
    }
    const broken = this.broken.get(url.replace(/^\/v1\//, ''));
    if (broken) {
      refuse(broken.status, ...broken.errors);
      return;
    }
    if (request.headers['x-vault-request'] !== 'true') {
      refuse(400, 'missing X-Vault-Request');
      return;
    }
    if (request.headers['x-vault-namespace'] !== this.namespace) {
      refuse(404, 'no handler for route');
      return;
    }
    const path = decodeURIComponent(url).replace(/^\/v1\//, '');
    if (path.endsWith('/login')) return this.#login(path, body, certificateOf(request), say, refuse);
    if (!token || !this.tokens.has(token)) {
      refuse(403, 'permission denied', 'invalid token');
      return;
    }
    const left = this.#usesLeft.get(token);
    if (left !== undefined) {
      this.#usesLeft.set(token, left - 1);
      if (left === 1) this.tokens.delete(token);
    }
    if (path === 'auth/token/lookup-self' || path === 'auth/token/renew-self')
      return this.#ownToken(path, token, say, refuse);
    const asked = /^sys\/internal\/ui\/mounts\/(.+)$/.exec(path)?.[1];
    if (asked !== undefined) this.#mounted(asked, say, refuse);
    else this.#keyValue(method, path, body, say, refuse);
  }

  #mounted(mount: string, say: Say, refuse: Refuse): void {
    const found = this.mounts.get(mount);
    if (found)
      say(200, { data: { type: found.type, options: found.version ? { version: found.version } : null } });
    else
      refuse(
        403,
        `preflight capability check returned 403, please ensure client's policies grant access to path "${mount}/"`,
      );
  }

  #ownToken(path: string, token: string, say: Say, refuse: Refuse): void {
    const { ttl, renewable, uses } = this.life;
    if (!this.hasDefaultPolicy) refuse(403, '1 error occurred:\n\t* permission denied');
    else if (path.endsWith('lookup-self')) say(200, { data: { id: token, ttl, renewable, num_uses: uses } });
    else {
      this.renewals += 1;
      say(200, { auth: { client_token: token, lease_duration: ttl, renewable } });
    }
  }

  #login(path: string, body: string, certificate: string | null, say: Say, refuse: Refuse): void {
    const input = JSON.parse(body) as Record<string, string>;
    const approle = path === 'auth/approle/login' && this.roles.get(input.role_id ?? '') === input.secret_id;
    const kubernetes =
      path === 'auth/kubernetes/login' && input.role === 'headgate' && input.jwt === this.serviceAccount;
    const jwt = path === 'auth/jwt/login' && input.jwt === this.jwt;
    const cert =
      path === 'auth/cert/login' && certificate === 'shop.example.org' && (input.name ?? 'shop') === 'shop';
    const aws = path === 'auth/aws/login' && isSignedByAws(input, this.serverId);
    if (!approle && !kubernetes && !jwt && !cert && !aws) {
      refuse(path.includes('approle') ? 400 : 403, 'invalid role or secret ID');
      return;
    }
    this.logins += 1;
    const token = `hvs.login-${this.logins}`;
    this.tokens.add(token);
    const { ttl, renewable, uses } = this.life;
    if (uses > 0) this.#usesLeft.set(token, uses);
    say(200, { auth: { client_token: token, lease_duration: ttl, renewable, num_uses: uses } });
  }

  /** Version 1: what is sent is what is stored. */
  #plain(method: string, path: string, body: string, say: Say, refuse: Refuse): void {
    if (method === 'POST') {
      this.put(path, JSON.parse(body) as Record<string, unknown>);
      say(204, {});
      return;
    }
    const data = this.get(path);
    if (data) say(200, { data });
    else refuse(404);
  }

  #keyValue(method: string, path: string, body: string, say: Say, refuse: Refuse): void {
    const first = path.split('/')[0] ?? '';
    if (this.mounts.get(first)?.version === '1') {
      this.#plain(method, path, body, say, refuse);
      return;
    }
    const [place = '', query] = path.split('?');
    const [, mount, rest] = /^([^/]+)\/data\/(.+)$/.exec(place) ?? [];
    if (!mount || !rest) {
      refuse(404, `no handler for route "${path}"`);
      return;
    }
    const name = `${mount}/${rest}`;
    if (this.forbidden.has(name)) {
      refuse(403, '1 error occurred:\n\t* permission denied');
      return;
    }
    const versions = this.entries.get(name)?.versions ?? [];
    // https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2#read-secret-version
    const asked = Number(new URLSearchParams(query).get('version') ?? 0) || versions.length;
    const metadata = { version: asked, created_time: '2026-01-01T00:00:00Z' };
    if (method === 'GET') {
      if (versions.length === 0 || asked > versions.length) {
        refuse(404);
        return;
      }
      const data = versions[asked - 1] ?? null;
      say(data ? 200 : 404, { data: { data, metadata } });
    } else if (method === 'POST') {
      const input = JSON.parse(body) as { data?: Record<string, unknown>; options?: { cas?: number } };
      if (!input.data) {
        refuse(400, 'no data provided');
        return;
      }
      if (input.options?.cas !== undefined && input.options.cas !== versions.length) {
        refuse(400, 'check-and-set parameter did not match the current version');
        return;
      }
      this.put(name, input.data);
      say(200, { data: { version: versions.length + 1 } });
    } else refuse(405, 'unsupported operation');
  }
}

/** The common name of what the client has shown at the handshake. */
function certificateOf({ socket }: IncomingMessage): string | null {
  if (!(socket instanceof TLSSocket)) return null;
  const { subject } = socket.getPeerCertificate();
  const name = subject?.CN;
  return typeof name === 'string' ? name : null;
}

/** https://developer.hashicorp.com/vault/api-docs/auth/aws#login; what AWS itself would say of the signature is not asked. */
function isSignedByAws(input: Record<string, string>, serverId: string): boolean {
  const read = (field: string): string => Buffer.from(input[field] ?? '', 'base64').toString();
  if (input.iam_http_request_method !== 'POST' || !input.iam_request_headers) return false;
  const headers = JSON.parse(read('iam_request_headers')) as Record<string, string>;
  return (
    read('iam_request_url') === 'https://sts.eu-central-1.amazonaws.com/' &&
    read('iam_request_body') === 'Action=GetCallerIdentity&Version=2011-06-15' &&
    headers['x-vault-aws-iam-server-id'] === serverId &&
    /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLEOFTEST00\/\d{8}\/eu-central-1\/sts\/aws4_request, SignedHeaders=[\w;-]*x-vault-aws-iam-server-id, Signature=[0-9a-f]{64}$/.test(
      headers.authorization ?? '',
    )
  );
}

type Say = (status: number, answer: unknown) => void;
type Refuse = (status: number, ...errors: string[]) => void;

/** A new one for each case. */
export const useVaultServer = () =>
  useEach(
    () => VaultServer.start(),
    (vault) => vault.close(),
  );
