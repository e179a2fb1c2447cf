/** How Vault lets us in: with a token as it is, or one that a login gives for a while. */
import type { VaultConfig } from '../../../schemas/api/secret-backends.ts';
import type { TargetGuard } from '../../platform/outgoing/index.ts';
import { BackendError, quoted } from './backend.ts';
import { type Caller, type Reply, recordOf } from './http-call.ts';

export interface VaultParts {
  guard: TargetGuard;
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
  check(signal: AbortSignal): Promise<void>;
  /** The error for an answer other than the wanted one. */
  refusal(reply: Reply, wanted: string, secrets?: readonly string[]): BackendError;
}

/** A token is used for this part of its life. */
const USED = 0.8;
const SHORTEST_MS = 5_000;
/** A login has up to three secrets; answers that are still on their way are of the last few logins. */
const KNOWN = 12;

export function createVaultSession(config: VaultConfig, caller: Caller, parts: VaultParts): VaultSession {
  const { auth, namespace } = config;
  let login: { token: Promise<string>; until: number } | null = null;
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

  function refusal(reply: Reply, wanted: string, secrets: readonly string[] = []): BackendError {
    const said = quoted(errorsOf(reply).join('; '), [...known, ...secrets]);
    const answer = `Vault answers ${reply.status}${said === '' ? '' : ` (${said})`} to: ${wanted}.`;
    switch (reply.status) {
      case 403:
        return new BackendError(
          'forbidden',
          `${answer} Check the ${credential(auth.method)}, and that its policy allows it`,
        );
      case 404:
        return new BackendError('refused', `${answer} Check the mount`);
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

  async function logIn(signal: AbortSignal): Promise<{ token: string; forMs: number }> {
    if (auth.method === 'token') {
      if (auth.token === undefined) throw new BackendError('refused', 'there is no token for Vault; set it');
      return { token: auth.token, forMs: Number.POSITIVE_INFINITY };
    }
    const { mount = auth.method } = auth;
    const body =
      auth.method === 'approle'
        ? { role_id: auth.roleId, secret_id: auth.secretId }
        : { role: auth.role, jwt: await parts.serviceAccountToken() };
    for (const secret of Object.values(body)) if (secret !== undefined) remember(secret);
    const path = `/v1/auth/${mount.split('/').map(encodeURIComponent).join('/')}/login`;
    const reply = await caller.call(path, { method: 'POST', headers: headers(), body, signal });
    const given = recordOf(recordOf(reply.body)?.auth);
    const token = given?.client_token;
    if (reply.status !== 200 || typeof token !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(token)) {
      const fault = refusal(reply, `log in by ${auth.method} at auth/${mount}`);
      // Without a login nothing can be read at all.
      throw ofStore(fault);
    }
    const seconds = Number(given?.lease_duration ?? 0);
    return { token, forMs: seconds > 0 ? seconds * 1_000 * USED : Number.POSITIVE_INFINITY };
  }

  async function tokenFor(signal: AbortSignal): Promise<string> {
    if (!login || performance.now() >= login.until) {
      const entry: NonNullable<typeof login> = {
        token: Promise.resolve(''),
        until: Number.POSITIVE_INFINITY,
      };
      entry.token = logIn(signal).then(({ token, forMs }) => {
        entry.until = performance.now() + Math.max(forMs, SHORTEST_MS);
        remember(token);
        return token;
      });
      entry.token.catch(() => {
        if (login === entry) login = null;
      });
      login = entry;
    }
    return login.token;
  }

  async function ask(path: string, { method = 'GET', body, signal }: Ask): Promise<Reply> {
    const used = await tokenFor(signal);
    const send = (token: string) => caller.call(path, { method, headers: headers(token), body, signal });
    const reply = await send(used);
    if (reply.status !== 403 || auth.method === 'token') return reply;
    if (login && (await login.token) === used) login = null;
    const next = await tokenFor(signal);
    return next === used ? reply : send(next);
  }

  return {
    ask,
    refusal,
    async check(signal) {
      const reply = await ask('/v1/auth/token/lookup-self', { signal }).catch((error: unknown) => {
        throw error instanceof BackendError ? ofStore(error) : error;
      });
      if (reply.status !== 200 || !recordOf(recordOf(reply.body)?.data)) {
        const fault = refusal(reply, 'look up our own token');
        throw ofStore(fault);
      }
    },
  };
}

/** What keeps us out is no fault of an entry. */
const ofStore = ({ fault, message }: BackendError): BackendError =>
  new BackendError(fault === 'forbidden' || fault === 'entry' ? 'refused' : fault, message);

/** What Vault says, in its own words. */
export function errorsOf({ body }: Reply): string[] {
  const errors = recordOf(body)?.errors;
  return Array.isArray(errors) ? errors.filter((one): one is string => typeof one === 'string') : [];
}

function credential(method: VaultConfig['auth']['method']): string {
  switch (method) {
    case 'token':
      return 'token';
    case 'approle':
      return 'role id and secret id';
    case 'kubernetes':
      return 'role and its bound service account';
  }
}
