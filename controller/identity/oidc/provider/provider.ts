/** The client of identity providers: their metadata, cached for some minutes, and requests to them. */
import type { JWTVerifyGetKey } from 'jose';
import type { Knex } from 'knex';
import {
  allowInsecureRequests,
  Configuration,
  clockTolerance,
  customFetch,
  enableNonRepudiationChecks,
  type ServerMetadata,
} from 'openid-client';
import type { Clock } from '../../../../reconcilers/loops/clock.ts';
import { MOST_PROVIDERS } from '../../../../schemas/api/identity/identity-providers.ts';
import type { Keyring } from '../../../platform/crypto/keyring.ts';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import type { Outgoing } from '../../../platform/net/outgoing/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import type { Bus } from '../../../platform/runtime/bus.ts';
import { createClientAuth } from './client-auth.ts';
import { discover } from './discovery.ts';
import { createKeySet } from './provider-keys.ts';
import { listOidcProviders, type OidcProvider } from './provider-store.ts';
import { warningsOf } from './provider-warnings.ts';

const CACHE_MS = 5 * 60_000;
const CLOCK_TOLERANCE_SECONDS = 60;
/** The keys of a provider are larger than its other replies. */
const REPLY_BYTES = 1024 * 1024;

/** The issuer of a provider, and the options for reaching it. */
export type ProviderRef = Pick<OidcProvider, 'issuer' | 'options'>;

export interface IdentityProvider {
  /** The provider's metadata, at most five minutes old. Throws, with the reason, where nobody could sign in. */
  describe(provider: ProviderRef): Promise<ServerMetadata>;
  /** A client for one sign-in. It fetches the keys each time, so that a provider may rotate them at any time. `signal` aborts requests. */
  client(ctx: Pick<Context, 'services'>, provider: OidcProvider, signal: AbortSignal): Promise<Configuration>;
  /** The keys for tokens outside a sign-in. `fresh` bypasses the cache. */
  keys(provider: ProviderRef, options?: { fresh: boolean }): Promise<JWTVerifyGetKey>;
  /** Warnings for administrators about a scope that providers do not list. Providers that do not answer give none. */
  scopeWarnings(db: Knex, scope: string): Promise<string[]>;
  /** Clears the cache. */
  forget(): void;
}

declare module '../../../platform/operation/context.ts' {
  interface Services {
    identityProvider: IdentityProvider;
  }
}

export function createIdentityProvider(parts: {
  outgoing: Outgoing;
  bus: Bus;
  clock: Clock;
}): IdentityProvider {
  const { outgoing, bus, clock } = parts;
  const cache = new Map<string, { at: number; document: Promise<ServerMetadata> }>();
  const keys = new Map<string, JWTVerifyGetKey>();
  const forget = () => {
    cache.clear();
    keys.clear();
  };
  bus.on('resync', forget);
  bus.on('ui', ({ topics }) => {
    if (topics.includes('settings')) forget();
  });

  function describe({ issuer, options: { caCertificate } }: ProviderRef): Promise<ServerMetadata> {
    const now = clock.now();
    const key = JSON.stringify([issuer, caCertificate]);
    const cached = cache.get(key);
    if (cached && now - cached.at < CACHE_MS) return cached.document;
    const document = discover(outgoing, { issuer, caCertificate }).then(({ document: found, problems }) => {
      if (problems.length > 0) throw new Error(problems.join('. '));
      return found;
    });
    // Concurrent callers share the request. A failure is not cached.
    const entry = { at: now, document };
    if (cache.size >= MOST_PROVIDERS * 2) cache.clear();
    cache.set(key, entry);
    document.catch(() => {
      if (cache.get(key) === entry) cache.delete(key);
    });
    return document;
  }

  return {
    describe,
    forget,
    async keys(provider, keyOptions) {
      const { caCertificate } = provider.options;
      const address = (await describe(provider)).jwks_uri ?? '';
      const key = JSON.stringify([address, caCertificate]);
      const cached = keyOptions?.fresh ? undefined : keys.get(key);
      if (cached) return cached;
      const found = createKeySet(outgoing, address, caCertificate);
      if (keys.size >= MOST_PROVIDERS * 2) keys.clear();
      keys.set(key, found);
      return found;
    },
    async scopeWarnings(db, scope) {
      const providers = await listOidcProviders(db);
      const warnings = providers.map(async ({ issuer, options }) => {
        const document = await describe({ issuer, options }).catch(() => null);
        const settings = { scopes: '', groupsClaim: '', groupsScope: options.groupsScope || scope };
        return document ? warningsOf(document, settings).map((warning) => `${issuer}: ${warning}`) : [];
      });
      return (await Promise.all(warnings)).flat();
    },
    client: async ({ services }, provider, signal) =>
      createClient(
        { outgoing, signal },
        {
          ...provider,
          document: await describe(provider),
          secret: openClientSecret(services.keyring, provider),
        },
      ),
  };
}

/** The client secret or private key. */
export const openClientSecret = (
  keyring: Keyring,
  { id, sealedClientSecret }: OidcProvider,
): string | null =>
  sealedClientSecret === null
    ? null
    : keyring.open(sealedClientSecret, sealingContext('oidc_settings', id, 'sealed_client_secret'));

/** Creates a client from the provider's metadata. @throws where the private key is invalid. */
export async function createClient(
  { outgoing, signal }: { outgoing: Outgoing; signal: AbortSignal },
  provider: Pick<OidcProvider, 'clientId' | 'tokenEndpointAuthMethod' | 'options'> & {
    document: ServerMetadata;
    secret: string | null;
  },
): Promise<Configuration> {
  const { caCertificate } = provider.options;
  const client = new Configuration(
    provider.document,
    provider.clientId,
    { [clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    await createClientAuth(provider),
  );
  client[customFetch] = async (url, { method, headers, body }) => {
    const answer = await outgoing.ask(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers: {
        ...(body instanceof URLSearchParams
          ? { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' }
          : {}),
        ...headers,
      },
      body: body === undefined || body === null ? null : String(body),
      replyBytes: REPLY_BYTES,
      ...{ signal, caCertificate },
    });
    return method === 'POST' ? preferErrorBody(answer) : answer;
  };
  // The guard of outgoing requests decides what may be requested without TLS.
  allowInsecureRequests(client);
  // TLS to the token endpoint would suffice by the standard, but a signature also protects against a proxy in between.
  enableNonRepudiationChecks(client);
  return client;
}

/** Removes a challenge header, so that the library reads the error in the body, which is more precise: RFC 6749, 5.2. */
async function preferErrorBody(answer: Response): Promise<Response> {
  if (answer.ok || !answer.headers.has('www-authenticate')) return answer;
  const text = await answer.clone().text();
  if (!/"error"\s*:\s*"/.test(text)) return answer;
  const headers = new Headers(answer.headers);
  headers.delete('www-authenticate');
  return new Response(text, { status: answer.status, headers });
}
