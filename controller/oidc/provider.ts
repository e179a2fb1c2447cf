/** The identity provider as a client of it: what it says of itself, kept for some minutes, and how it is asked. */
import type { JWTVerifyGetKey } from 'jose';
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  clockTolerance,
  customFetch,
  enableNonRepudiationChecks,
  None,
  type ServerMetadata,
} from 'openid-client';
import type { Clock } from '../../reconcilers/engine/clock.ts';
import type { Bus } from '../platform/bus.ts';
import type { Context } from '../platform/context.ts';
import type { Outgoing } from '../platform/outgoing/index.ts';
import { sealedPlace } from '../platform/sealed-columns.ts';
import { discover } from './discovery.ts';
import { keysAt } from './provider-keys.ts';
import type { OidcSettings } from './store.ts';

const KEPT_MS = 5 * 60_000;
const CLOCK_TOLERANCE_SECONDS = 60;
/** Keys of a provider take more room than what else it says. */
const REPLY_BYTES = 1024 * 1024;

export interface IdentityProvider {
  /** What it says of itself, at most five minutes old. Throws where people cannot sign in by it, with the reason. */
  describe(issuer: string): Promise<ServerMetadata>;
  /** For one sign-in: its keys are fetched anew, so that a provider may change them whenever it wants. `signal` ends what it asks. */
  client(ctx: Pick<Context, 'services'>, settings: OidcSettings, signal: AbortSignal): Promise<Configuration>;
  /** What it signs is checked with these, when nobody is signing in. */
  keys(settings: OidcSettings, how?: { anew: boolean }): Promise<JWTVerifyGetKey>;
  /** The next look asks anew. */
  forget(): void;
}

declare module '../platform/context.ts' {
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
  let kept: { issuer: string; at: number; document: Promise<ServerMetadata> } | null = null;
  let keys: { address: string; found: JWTVerifyGetKey } | null = null;
  const forget = () => {
    kept = null;
    keys = null;
  };
  bus.on('resync', forget);
  bus.on('ui', ({ topics }) => {
    if (topics.includes('settings')) forget();
  });

  function describe(issuer: string): Promise<ServerMetadata> {
    const now = clock.now();
    if (kept?.issuer === issuer && now - kept.at < KEPT_MS) return kept.document;
    const document = discover(outgoing, issuer).then(({ document: found, problems }) => {
      if (problems.length > 0) throw new Error(problems.join('. '));
      return found;
    });
    // Whoever looks at the same moment shares it; a failure is not kept.
    const mine = { issuer, at: now, document };
    kept = mine;
    document.catch(() => {
      if (kept === mine) kept = null;
    });
    return document;
  }

  return {
    describe,
    forget,
    async keys({ issuer }, how) {
      const address = (await describe(issuer)).jwks_uri ?? '';
      if (how?.anew || keys?.address !== address) keys = { address, found: keysAt(outgoing, address) };
      return keys.found;
    },
    async client({ services }, settings, signal) {
      const document = await describe(settings.issuer);
      const { sealedClientSecret, tokenEndpointAuthMethod } = settings;
      const secret =
        sealedClientSecret === null
          ? null
          : services.keyring.open(
              sealedClientSecret,
              sealedPlace('oidc_settings', 'oidc', 'sealed_client_secret'),
            );
      const made = new Configuration(
        document,
        settings.clientId,
        { [clockTolerance]: CLOCK_TOLERANCE_SECONDS },
        authOf(tokenEndpointAuthMethod, secret),
      );
      made[customFetch] = (url, { method, headers, body }) =>
        outgoing.ask(url, {
          method: method === 'POST' ? 'POST' : 'GET',
          headers: {
            ...(body instanceof URLSearchParams
              ? { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' }
              : {}),
            ...headers,
          },
          body: body === undefined || body === null ? null : String(body),
          replyBytes: REPLY_BYTES,
          signal,
        });
      // What may be asked without TLS is for the guard of outgoing requests to say.
      allowInsecureRequests(made);
      // The connection to the token endpoint would do as proof; a signature is one that nobody between us can make.
      enableNonRepudiationChecks(made);
      return made;
    },
  };
}

function authOf(method: OidcSettings['tokenEndpointAuthMethod'], secret: string | null): ClientAuth {
  if (method === 'none' || secret === null) return None();
  return method === 'client_secret_post' ? ClientSecretPost(secret) : ClientSecretBasic(secret);
}
