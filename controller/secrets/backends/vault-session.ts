/** How Vault lets us in: with a token as it is, or one that a login gives for a while. */

import { backoff, jitter } from '../../../reconcilers/engine/backoff.ts';
import type { VaultConfig } from '../../../schemas/api/secret-backends.ts';
import type { TargetGuard } from '../../platform/net/outgoing/index.ts';
import type { ProxySettings } from '../../platform/net/proxies.ts';
import { BackendError, quoted } from './backend.ts';
import { type Caller, type Reply, recordOf } from './http-call.ts';
import { loginBody } from './vault-login.ts';
import { holdToken, type Lease } from './vault-token.ts';

export interface VaultParts {
  guard: TargetGuard;
  proxies: ProxySettings;
  /** The controller's own service account in Kubernetes. */
  serviceAccountToken(): Promise<string>;
}

interface Ask {
  method?: string;
  body?: unknown;
  signal: AbortSignal;
}

export interface VaultSession {
  /** With the token; one that a login gave is fetched anew once where Vault does not take it any longer. */
  ask(path: string, options: Ask): Promise<Reply>;
  /** What Vault says of a mount: 200 with its type, 403 where there is none, or nothing below it is allowed. */
  mounted(mount: string, signal: AbortSignal): Promise<Reply>;
  /** The error for an answer other than the wanted one. */
  refusal(reply: Reply, wanted: string, secrets?: readonly string[]): BackendError;
  close(): void;
}

/** Where Vault does not say whether a token is invalid or a path forbidden, a login is made anew once in so long. */
const BLIND_LOGIN_MS = 5 * 60_000;
/** A login has up to three secrets; answers that are still on their way are of the last few logins. */
const KNOWN = 12;

export function createVaultSession(config: VaultConfig, caller: Caller, parts: VaultParts): VaultSession {
  const { auth, namespace } = config;
  let blindAt = Number.NEGATIVE_INFINITY;
  /** What must not be told, whatever Vault echoes: of the last logins, the newest at the end. */
  const known = new Set<string>();

  function remember(secret: string): void {
    known.delete(secret);
    known.add(secret);
    for (const oldest of known) {
      if (known.size <= KNOWN) break;
      known.delete(oldest);
    }
  }

  const headers = (token?: string): Record<string, string> => ({
    'x-vault-request': 'true',
    ...(namespace ? { 'x-vault-namespace': namespace } : {}),
    ...(token ? { 'x-vault-token': token } : {}),
  });

  function refusal(
    reply: Reply,
    wanted: string,
    secrets: readonly string[] = [],
    advice: (status: number) => string | null = () => null,
  ): BackendError {
    const said = quoted(errorsOf(reply).join('; '), [...known, ...secrets]);
    const answer = `Vault answers ${reply.status}${said === '' ? '' : ` (${said})`} to: ${wanted}.`;
    const told = advice(reply.status);
    if (told !== null) return new BackendError('refused', `${answer} ${told}`);
    if (reply.status === 403 && /invalid token/i.test(said))
      return new BackendError('forbidden', `${answer} ${ENDED[auth.method]}`);
    switch (reply.status) {
      case 403:
        return new BackendError(
          'forbidden',
          `${answer} Check the ${credential(auth.method)}, and that its policy allows it`,
        );
      case 404:
        return new BackendError(
          'refused',
          `${answer} Check the address (without /v1), the namespace and the mount`,
        );
      case 429:
        return new BackendError(
          'throttled',
          `${answer} It is asked too often; the values that are known stay, and it is asked less for a while`,
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

  const asked = (
    path: string,
    token: string,
    options: { method?: string; body?: unknown; signal: AbortSignal },
  ) => caller.call(path, { ...options, headers: headers(token) });

  /** What Vault says of a token that was given; nothing where its policies do not let it look: it may be one without `default`. */
  async function given(token: string, signal: AbortSignal): Promise<Lease> {
    remember(token);
    const reply = await asked('/v1/auth/token/lookup-self', token, { signal });
    const data = reply.status === 200 ? recordOf(recordOf(reply.body)?.data) : null;
    const uses = Number(data?.num_uses ?? 0);
    return { token, ...lifeOf(data?.ttl, data?.renewable), uses: uses > 0 ? uses : null };
  }

  let refused = { error: new BackendError('refused', ''), until: 0, times: 0 };

  /** One that was refused is not tried again with each look: it would lock the role. Another setting is tried at once. */
  async function logInUnlessRefused(signal: AbortSignal): Promise<Lease> {
    const leftMs = refused.until - performance.now();
    if (leftMs > 0)
      throw new BackendError(
        'refused',
        `${refused.error.message}. It is logged in again in ${Math.ceil(leftMs / 60_000)} min, or at once with another setting`,
      );
    try {
      const lease = await logIn(signal);
      refused.times = 0;
      return lease;
    } catch (error) {
      if (error instanceof BackendError && error.fault === 'refused' && auth.method !== 'token') {
        const times = refused.times + 1;
        refused = { error, times, until: performance.now() + jitter(afterRefusal(times)) };
      }
      throw error;
    }
  }

  async function logIn(signal: AbortSignal): Promise<Lease> {
    if (auth.method === 'token') {
      if (auth.token === undefined) throw new BackendError('refused', 'there is no token for Vault; set it');
      return given(auth.token, signal);
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
      // Without a login nothing can be read at all.
      throw ofStore(
        refusal(reply, `log in by ${auth.method} at auth/${mount}`, [], loginAdvice(auth.method, mount)),
      );
    remember(token);
    const uses = Number(got?.num_uses ?? 0);
    return { token, ...lifeOf(got?.lease_duration, got?.renewable), uses: uses > 0 ? uses : null };
  }

  const held = holdToken({
    isLogin: auth.method !== 'token',
    obtain: logInUnlessRefused,
    async renew(token) {
      const reply = await asked('/v1/auth/token/renew-self', token, {
        ...{ method: 'POST', body: {}, signal: AbortSignal.timeout(RENEW_MS) },
      });
      const got = recordOf(recordOf(reply.body)?.auth);
      return reply.status === 200 && got ? lifeOf(got.lease_duration, got.renewable) : null;
    },
  });

  async function ask(path: string, options: Ask): Promise<Reply> {
    const used = await held.take(options.signal);
    const reply = await asked(path, used, options);
    if (reply.status !== 403 || auth.method === 'token') return reply;
    if (!(await hasEnded(reply, used, options.signal))) return reply;
    held.drop(used);
    return asked(path, await held.take(options.signal), options);
  }

  /** Newer ones say `invalid token`; where only permission is denied, the path may be forbidden and the token good. */
  async function hasEnded(reply: Reply, token: string, signal: AbortSignal): Promise<boolean> {
    if (saysInvalid(reply)) return true;
    if (performance.now() - blindAt < BLIND_LOGIN_MS) return false;
    blindAt = performance.now();
    for (const path of ['/v1/auth/token/lookup-self', mountPath(config.mount ?? DEFAULT_MOUNT)])
      if ((await asked(path, token, { signal })).status === 200) return false;
    return true;
  }

  /**
   * What is mounted there. Vault tells it to every token that may do anything below the mount, whatever its policies:
   * https://developer.hashicorp.com/vault/api-docs/system/internal-ui-mounts
   */
  const mounted = (mount: string, signal: AbortSignal): Promise<Reply> => ask(mountPath(mount), { signal });

  return {
    ask,
    refusal,
    mounted,
    close: () => held.close(),
  };
}

export const DEFAULT_MOUNT = 'secret';
const mountPath = (mount: string): string =>
  `/v1/sys/internal/ui/mounts/${mount.split('/').map(encodeURIComponent).join('/')}`;
const saysInvalid = (reply: Reply): boolean => /invalid token/i.test(errorsOf(reply).join());

const RENEW_MS = 10_000;
/** Vault locks a role for a quarter of an hour after five refused logins, unless it is set up otherwise. */
const afterRefusal = backoff({ firstMs: 60_000, capMs: 15 * 60_000 });
const SECRET_FIELDS = ['role_id', 'secret_id', 'jwt', 'iam_request_headers'];

/** In seconds; 0 is for ever. */
function lifeOf(seconds: unknown, renewable: unknown): Pick<Lease, 'ttlMs' | 'renewable'> {
  const ttl = Number(seconds ?? 0);
  return { ttlMs: ttl > 0 ? ttl * 1_000 : null, renewable: renewable === true };
}

const WRONG: Record<VaultConfig['auth']['method'], string> = {
  token: 'Give another token',
  approle:
    'The role id is unknown, or the secret id is wrong, has expired, or was used as often as it may be: give a new secret id',
  kubernetes: 'Check the role and its bound service account, and the namespace of that',
  jwt: 'The JWT has expired, or its issuer, audience or claims are not those of the role: give a new JWT, or correct the role',
  cert: 'The certificate has expired, or no role of the method trusts its authority: give another certificate, or correct the role',
  aws: 'AWS does not know the key, the role is not bound to its identity, or the server id is another one: check the key, the role and the server id',
};

/** What is mostly wrong, by what Vault answers to a login. */
const loginAdvice =
  (method: VaultConfig['auth']['method'], mount: string) =>
  (status: number): string | null => {
    if (status === 404) return `No method is mounted at auth/${mount}: check the mount of the method`;
    if (status === 400) return WRONG[method];
    if (status !== 403) return null;
    // https://developer.hashicorp.com/vault/docs/concepts/user-lockout
    const locked =
      method === 'approle'
        ? '. Or too many logins were refused, which locks the role for a while (15 minutes unless set otherwise)'
        : '';
    return `${WRONG[method]}. Check too that the method is mounted at auth/${mount}${locked}`;
  };

/** What keeps us out is no fault of an entry. */
export const ofStore = ({ fault, message }: BackendError): BackendError =>
  new BackendError(fault === 'forbidden' || fault === 'entry' ? 'refused' : fault, message);

/** What Vault says, in its own words. */
export function errorsOf({ body }: Reply): string[] {
  const errors = recordOf(body)?.errors;
  return Array.isArray(errors) ? errors.filter((one): one is string => typeof one === 'string') : [];
}

const ENDED: Record<VaultConfig['auth']['method'], string> = {
  token:
    'The token is wrong, has expired or was revoked: give another one, periodic if it is to be renewed for ever',
  approle: 'The token of the login was revoked; it is logged in anew',
  kubernetes: 'The token of the login was revoked; it is logged in anew',
  jwt: 'The token of the login was revoked; it is logged in anew',
  cert: 'The token of the login was revoked; it is logged in anew',
  aws: 'The token of the login was revoked; it is logged in anew',
};

function credential(method: VaultConfig['auth']['method']): string {
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
