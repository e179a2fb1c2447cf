/** An identity provider as a client of it: what it says of itself, kept for some minutes, and how it is asked. */
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
import type { Clock } from '../../../../reconcilers/engine/clock.ts';
import { MOST_PROVIDERS } from '../../../../schemas/api/identity-providers.ts';
import type { Keyring } from '../../../platform/crypto/keyring.ts';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import type { Outgoing } from '../../../platform/net/outgoing/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import type { Bus } from '../../../platform/runtime/bus.ts';
import { clientAuthOf } from './client-auth.ts';
import { discover } from './discovery.ts';
import { keysAt } from './provider-keys.ts';
import { listOidcProviders, type OidcProvider } from './provider-store.ts';
import { warningsOf } from './provider-warnings.ts';

const KEPT_MS = 5 * 60_000;
const CLOCK_TOLERANCE_SECONDS = 60;
/** Keys of a provider take more room than what else it says. */
const REPLY_BYTES = 1024 * 1024;

/** Where a provider is, and whom it is trusted by. */
export type ProviderRef = Pick<OidcProvider, 'issuer' | 'options'>;

export interface IdentityProvider {
  /** What it says of itself, at most five minutes old. Throws where people cannot sign in by it, with the reason. */
  describe(place: ProviderRef): Promise<ServerMetadata>;
  /** For one sign-in: its keys are fetched anew, so that a provider may change them whenever it wants. `signal` ends what it asks. */
  client(ctx: Pick<Context, 'services'>, provider: OidcProvider, signal: AbortSignal): Promise<Configuration>;
  /** What it signs is checked with these, when nobody is signing in. */
  keys(provider: ProviderRef, how?: { anew: boolean }): Promise<JWTVerifyGetKey>;
  /** What administrators are told of a scope that a provider does not list. None of those that do not answer. */
  scopeWarnings(db: Knex, scope: string): Promise<string[]>;
  /** The next look asks anew. */
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
  const kept = new Map<string, { at: number; document: Promise<ServerMetadata> }>();
  const keys = new Map<string, JWTVerifyGetKey>();
  const forget = () => {
    kept.clear();
    keys.clear();
  };
  bus.on('resync', forget);
  bus.on('ui', ({ topics }) => {
    if (topics.includes('settings')) forget();
  });

  function describe({ issuer, options: { caCertificate } }: ProviderRef): Promise<ServerMetadata> {
    const now = clock.now();
    const key = JSON.stringify([issuer, caCertificate]);
    const known = kept.get(key);
    if (known && now - known.at < KEPT_MS) return known.document;
    const document = discover(outgoing, { issuer, caCertificate }).then(({ document: found, problems }) => {
      if (problems.length > 0) throw new Error(problems.join('. '));
      return found;
    });
    // Whoever looks at the same moment shares it; a failure is not kept.
    const mine = { at: now, document };
    if (kept.size >= MOST_PROVIDERS * 2) kept.clear();
    kept.set(key, mine);
    document.catch(() => {
      if (kept.get(key) === mine) kept.delete(key);
    });
    return document;
  }

  return {
    describe,
    forget,
    async keys(place, how) {
      const { caCertificate } = place.options;
      const address = (await describe(place)).jwks_uri ?? '';
      const key = JSON.stringify([address, caCertificate]);
      const known = how?.anew ? undefined : keys.get(key);
      if (known) return known;
      const found = keysAt(outgoing, address, caCertificate);
      if (keys.size >= MOST_PROVIDERS * 2) keys.clear();
      keys.set(key, found);
      return found;
    },
    async scopeWarnings(db, scope) {
      const providers = await listOidcProviders(db);
      const told = providers.map(async ({ issuer, options }) => {
        const document = await describe({ issuer, options }).catch(() => null);
        const asked = { scopes: '', groupsClaim: '', groupsScope: options.groupsScope || scope };
        return document ? warningsOf(document, asked).map((words) => `${issuer}: ${words}`) : [];
      });
      return (await Promise.all(told)).flat();
    },
    client: async ({ services }, provider, signal) =>
      makeClient(
        { outgoing, signal },
        {
          ...provider,
          document: await describe(provider),
          secret: openClientSecret(services.keyring, provider),
        },
      ),
  };
}

/** Or private key. */
export const openClientSecret = (
  keyring: Keyring,
  { id, sealedClientSecret }: OidcProvider,
): string | null =>
  sealedClientSecret === null
    ? null
    : keyring.open(sealedClientSecret, sealingContext('oidc_settings', id, 'sealed_client_secret'));

/** A client of a provider that has described itself. @throws where its private key is none. */
export async function makeClient(
  { outgoing, signal }: { outgoing: Outgoing; signal: AbortSignal },
  of: Pick<OidcProvider, 'clientId' | 'tokenEndpointAuthMethod' | 'options'> & {
    document: ServerMetadata;
    secret: string | null;
  },
): Promise<Configuration> {
  const { caCertificate } = of.options;
  const made = new Configuration(
    of.document,
    of.clientId,
    { [clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    await clientAuthOf(of),
  );
  made[customFetch] = async (url, { method, headers, body }) => {
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
    return method === 'POST' ? spokenFor(answer) : answer;
  };
  // What may be asked without TLS is for the guard of outgoing requests to say.
  allowInsecureRequests(made);
  // The connection to the token endpoint would do as proof; a signature is one that nobody between us can make.
  enableNonRepudiationChecks(made);
  return made;
}

/** The library reads a challenge rather than the body, which says more of what is wrong: RFC 6749, 5.2. */
async function spokenFor(answer: Response): Promise<Response> {
  if (answer.ok || !answer.headers.has('www-authenticate')) return answer;
  const text = await answer.clone().text();
  if (!/"error"\s*:\s*"/.test(text)) return answer;
  const headers = new Headers(answer.headers);
  headers.delete('www-authenticate');
  return new Response(text, { status: answer.status, headers });
}
