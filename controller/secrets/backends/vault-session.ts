/** Requests to Vault with a valid token: a token of the setting, or one that a login issues for a limited time. */

import { backoff, jitter } from '../../../reconcilers/loops/backoff.ts';
import type { VaultConfig } from '../../../schemas/api/secrets/secret-backends.ts';
import type { TargetGuard } from '../../platform/net/outgoing/index.ts';
import type { ProxySettings } from '../../platform/net/proxies.ts';
import { BackendError, redact } from './backend.ts';
import { type Caller, type Reply, recordOf } from './http-call.ts';
import { loginBody } from './vault-login.ts';
import { holdToken, type Lease } from './vault-token.ts';

export interface VaultParts {
  guard: TargetGuard;
  proxies: ProxySettings;
  /** The token of the controller's own service account in Kubernetes. */
  serviceAccountToken(): Promise<string>;
}

interface Ask {
  method?: string;
  body?: unknown;
  signal: AbortSignal;
}

export interface VaultSession {
  /** Sends a request with the token. Where Vault no longer accepts the token of a login, it logs in again once. */
  ask(path: string, options: Ask): Promise<Reply>;
  /** Describes a mount: 200 with its type; 403 where it does not exist or the token may do nothing below it. */
  getMount(mount: string, signal: AbortSignal): Promise<Reply>;
  /** The error for a reply that is not the wanted one. */
  errorFor(reply: Reply, wanted: string, secrets?: readonly string[]): BackendError;
  close(): void;
}

/** Where Vault does not say whether the token is invalid or the path forbidden, we log in again at most once in this time. */
const PROBE_INTERVAL_MS = 5 * 60_000;
/** A login has up to three secrets, and replies that are under way belong to the last few logins. */
const MAX_REMEMBERED = 12;

export function createVaultSession(config: VaultConfig, caller: Caller, parts: VaultParts): VaultSession {
  const { auth, namespace } = config;
  let lastProbe = Number.NEGATIVE_INFINITY;
  /** The secrets of the last logins, newest last, to redact from every message of Vault. */
  const remembered = new Set<string>();

  function remember(secret: string): void {
    remembered.delete(secret);
    remembered.add(secret);
    for (const oldest of remembered) {
      if (remembered.size <= MAX_REMEMBERED) break;
      remembered.delete(oldest);
    }
  }

  const headers = (token?: string): Record<string, string> => ({
    'x-vault-request': 'true',
    ...(namespace ? { 'x-vault-namespace': namespace } : {}),
    ...(token ? { 'x-vault-token': token } : {}),
  });

  function errorFor(
    reply: Reply,
    wanted: string,
    secrets: readonly string[] = [],
    advice: (status: number) => string | null = () => null,
  ): BackendError {
    const detail = redact(errorsOf(reply).join('; '), [...remembered, ...secrets]);
    const answer = `Vault answers ${reply.status}${detail === '' ? '' : ` (${detail})`} to: ${wanted}.`;
    const hint = advice(reply.status);
    if (hint !== null) return new BackendError('refused', `${answer} ${hint}`);
    if (reply.status === 403 && /invalid token/i.test(detail))
      return new BackendError('forbidden', `${answer} ${TOKEN_ADVICE[auth.method]}`);
    switch (reply.status) {
      case 403:
        return new BackendError(
          'forbidden',
          `${answer} Check the ${credentialName(auth.method)}, and that its policy allows it`,
        );
      case 404:
        return new BackendError(
          'refused',
          `${answer} Check the address (without /v1), the namespace and the mount`,
        );
      case 429:
        return new BackendError(
          'throttled',
          `${answer} It throttles our requests; the last good values stay in use, and we ask less often for a while`,
        );
      case 400:
      case 405:
      case 412:
      case 500:
        return new BackendError(
          'entry',
          `${answer} Check this entry there, and the mount, the prefix and the namespace`,
        );
      case 502:
      case 503:
      case 504:
        return new BackendError('unreachable', `${answer} Is it sealed, in maintenance, or overloaded?`);
      default:
        return new BackendError('refused', `${answer} Check the mount, the prefix and the namespace`);
    }
  }

  const callWithToken = (
    path: string,
    token: string,
    options: { method?: string; body?: unknown; signal: AbortSignal },
  ) => caller.call(path, { ...options, headers: headers(token) });

  /** The lifetime of a token of the setting; unknown where its policies do not allow the lookup, as without `default`. */
  async function inspectToken(token: string, signal: AbortSignal): Promise<Lease> {
    remember(token);
    const reply = await callWithToken('/v1/auth/token/lookup-self', token, { signal });
    const data = reply.status === 200 ? recordOf(recordOf(reply.body)?.data) : null;
    const uses = Number(data?.num_uses ?? 0);
    return { token, ...parseLifetime(data?.ttl, data?.renewable), uses: uses > 0 ? uses : null };
  }

  let lastRefusal = { error: new BackendError('refused', ''), until: 0, times: 0 };

  /** Waits after a refused login, because repeated ones lock the role in Vault. A new setting is a new session, which logs in at once. */
  async function logInUnlessRefused(signal: AbortSignal): Promise<Lease> {
    const leftMs = lastRefusal.until - performance.now();
    if (leftMs > 0)
      throw new BackendError(
        'refused',
        `${lastRefusal.error.message}. The next login is in ${Math.ceil(leftMs / 60_000)} min, or at once after a change of the setting`,
      );
    try {
      const lease = await logIn(signal);
      lastRefusal.times = 0;
      return lease;
    } catch (error) {
      if (error instanceof BackendError && error.fault === 'refused' && auth.method !== 'token') {
        const times = lastRefusal.times + 1;
        lastRefusal = { error, times, until: performance.now() + jitter(afterRefusal(times)) };
      }
      throw error;
    }
  }

  async function logIn(signal: AbortSignal): Promise<Lease> {
    if (auth.method === 'token') {
      if (auth.token === undefined) throw new BackendError('refused', 'there is no token for Vault; set it');
      return inspectToken(auth.token, signal);
    }
    const { mount = auth.method } = auth;
    const body = await loginBody(auth, parts.serviceAccountToken);
    for (const [field, secret] of Object.entries(body))
      if (secret !== undefined && SECRET_FIELDS.includes(field)) remember(secret);
    const path = `/v1/auth/${mount.split('/').map(encodeURIComponent).join('/')}/login`;
    const reply = await caller.call(path, { method: 'POST', headers: headers(), body, signal });
    const got = recordOf(recordOf(reply.body)?.auth);
    const token = got?.client_token;
    if (reply.status !== 200 || typeof token !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(token))
      // Without a login no entry can be read, so the store is at fault.
      throw asStoreFault(
        errorFor(reply, `log in by ${auth.method} at auth/${mount}`, [], loginAdvice(auth.method, mount)),
      );
    remember(token);
    const uses = Number(got?.num_uses ?? 0);
    return { token, ...parseLifetime(got?.lease_duration, got?.renewable), uses: uses > 0 ? uses : null };
  }

  const heldToken = holdToken({
    isLogin: auth.method !== 'token',
    // Each call has its own deadline.
    obtain: () => logInUnlessRefused(new AbortController().signal),
    async renew(token) {
      const reply = await callWithToken('/v1/auth/token/renew-self', token, {
        ...{ method: 'POST', body: {}, signal: AbortSignal.timeout(RENEW_MS) },
      });
      const got = recordOf(recordOf(reply.body)?.auth);
      return reply.status === 200 && got ? parseLifetime(got.lease_duration, got.renewable) : null;
    },
  });

  async function ask(path: string, options: Ask): Promise<Reply> {
    const used = await heldToken.take(options.signal);
    const reply = await callWithToken(path, used, options);
    if (reply.status !== 403 || auth.method === 'token') return reply;
    if (!(await hasEnded(reply, used, options.signal))) return reply;
    heldToken.drop(used);
    return callWithToken(path, await heldToken.take(options.signal), options);
  }

  /** Newer versions answer `invalid token`. A mere `permission denied` may also mean a valid token and a forbidden path. */
  async function hasEnded(reply: Reply, token: string, signal: AbortSignal): Promise<boolean> {
    if (isInvalidToken(reply)) return true;
    if (performance.now() - lastProbe < PROBE_INTERVAL_MS) return false;
    lastProbe = performance.now();
    for (const path of ['/v1/auth/token/lookup-self', mountPath(config.mount ?? DEFAULT_MOUNT)])
      if ((await callWithToken(path, token, { signal })).status === 200) return false;
    return true;
  }

  /**
   * Vault answers this to every token that may do anything below the mount, whatever its policies:
   * https://developer.hashicorp.com/vault/api-docs/system/internal-ui-mounts
   */
  const getMount = (mount: string, signal: AbortSignal): Promise<Reply> => ask(mountPath(mount), { signal });

  return {
    ask,
    errorFor,
    getMount,
    close: () => heldToken.close(),
  };
}

export const DEFAULT_MOUNT = 'secret';
const mountPath = (mount: string): string =>
  `/v1/sys/internal/ui/mounts/${mount.split('/').map(encodeURIComponent).join('/')}`;
const isInvalidToken = (reply: Reply): boolean => /invalid token/i.test(errorsOf(reply).join());

const RENEW_MS = 10_000;
/** By default Vault locks a role for 15 minutes after five refused logins. */
const afterRefusal = backoff({ firstMs: 60_000, capMs: 15 * 60_000 });
const SECRET_FIELDS = ['role_id', 'secret_id', 'jwt', 'iam_request_headers'];

/** Vault gives seconds; 0 means that the token does not expire. */
function parseLifetime(seconds: unknown, renewable: unknown): Pick<Lease, 'ttlMs' | 'renewable'> {
  const ttl = Number(seconds ?? 0);
  return { ttlMs: ttl > 0 ? ttl * 1_000 : null, renewable: renewable === true };
}

const LOGIN_ADVICE: Record<VaultConfig['auth']['method'], string> = {
  token: 'Give another token',
  approle:
    'The role id is unknown, or the secret id is wrong, has expired, or was used as often as it may be: give a new secret id',
  kubernetes: 'Check the role, and the service account and the namespace that it is bound to',
  jwt: 'The JWT has expired, or its issuer, audience or claims are not those of the role: give a new JWT, or correct the role',
  cert: 'The certificate has expired, or no role of the method trusts its authority: give another certificate, or correct the role',
  aws: 'AWS does not know the key, the role is not bound to its identity, or the server id is another one: check the key, the role and the server id',
};

/** The usual cause of a refused login, by the status that Vault answers. */
const loginAdvice =
  (method: VaultConfig['auth']['method'], mount: string) =>
  (status: number): string | null => {
    if (status === 404) return `No method is mounted at auth/${mount}: check the mount of the method`;
    if (status === 400) return LOGIN_ADVICE[method];
    if (status !== 403) return null;
    // https://developer.hashicorp.com/vault/docs/concepts/user-lockout
    const locked =
      method === 'approle'
        ? '. Or too many logins were refused, which locks the role for a while (15 minutes unless set otherwise)'
        : '';
    return `${LOGIN_ADVICE[method]}. Check too that the method is mounted at auth/${mount}${locked}`;
  };

/** A fault of the access to the store is reported as one of the store, not of an entry. */
export const asStoreFault = ({ fault, message }: BackendError): BackendError =>
  new BackendError(fault === 'forbidden' || fault === 'entry' ? 'refused' : fault, message);

/** The error messages in a reply of Vault. */
export function errorsOf({ body }: Reply): string[] {
  const errors = recordOf(body)?.errors;
  return Array.isArray(errors) ? errors.filter((one): one is string => typeof one === 'string') : [];
}

const LOGIN_REPEATED = 'The token of the login was revoked; we log in again';
const TOKEN_ADVICE: Record<VaultConfig['auth']['method'], string> = {
  token:
    'The token is wrong, has expired or was revoked: set another one, a periodic one if it must be renewed for ever',
  approle: LOGIN_REPEATED,
  kubernetes: LOGIN_REPEATED,
  jwt: LOGIN_REPEATED,
  cert: LOGIN_REPEATED,
  aws: LOGIN_REPEATED,
};

function credentialName(method: VaultConfig['auth']['method']): string {
  switch (method) {
    case 'token':
      return 'token';
    case 'approle':
      return 'role id and secret id';
    case 'kubernetes':
      return 'role and its bound service account';
    case 'jwt':
      return 'JWT and its role';
    case 'cert':
      return 'certificate and its role';
    case 'aws':
      return 'access key and its role';
  }
}
