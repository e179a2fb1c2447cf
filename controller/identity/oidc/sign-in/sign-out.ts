/** What pages are told of providers: that one may sign in there, and where to end the session that each keeps itself. */
import { compactVerify, decodeJwt } from 'jose';
import type { Knex } from 'knex';
import { buildEndSessionUrl } from 'openid-client';
import { FIRST_PROVIDER } from '../../../../schemas/api/identity-providers.ts';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { SIGNATURES } from '../provider/provider-keys.ts';
import {
  listOidcProviders,
  type OidcProvider,
  readSessionOfProvider,
  type SessionOfProvider,
} from '../provider/provider-store.ts';

export interface SignInProvider {
  id: string;
  name: string;
  url: string;
  /** Whether an address that was typed is to go along, as `login_hint`. */
  takesLoginHint?: true;
}

const LOGIN = '/api/auth/oidc/login';

/** Ways to sign in beside the password, in their order. */
export async function listProviders(db: Knex): Promise<SignInProvider[]> {
  const providers = await listOidcProviders(db);
  return providers.map(({ id, displayName, options: { sendsLoginHint } }) => ({
    ...{ id, name: displayName ?? (providers.length === 1 ? 'Single sign-on' : id) },
    ...{
      url: id === FIRST_PROVIDER ? LOGIN : `${LOGIN}?provider=${id}`,
      ...(sendsLoginHint && { takesLoginHint: true as const }),
    },
  }));
}

export interface ProviderSession extends SessionOfProvider {
  sessionId: string;
}

/** Before the session ends. Null for one that did not begin at a provider. */
export async function readProviderSession({ db, actor }: Context): Promise<ProviderSession | null> {
  if (actor.type !== 'user') return null;
  const found = await readSessionOfProvider(db, actor.sessionId);
  return found && { ...found, sessionId: actor.sessionId };
}

/** Longer ones are refused by servers on the way: Quarkus, with Keycloak in it, takes a first line of 4,096 bytes unless told. */
const ADDRESS_LENGTH = 3_800;
/** Somebody waits for it. */
const WAIT_MS = 3_000;

/**
 * Where the browser goes after sign-out, so that the session at the provider ends too: OpenID Connect RP-Initiated Logout 1.0.
 * Null where the provider has no such place, or does not answer: the sign-out here is done either way.
 */
export async function endSessionUrl(ctx: Context, session: ProviderSession): Promise<string | null> {
  const { services } = ctx;
  try {
    const providers = await listOidcProviders(ctx.db);
    const provider = providers.find(({ issuer }) => issuer === (session.issuer ?? providers[0]?.issuer));
    if (!provider) return null;
    const signal = AbortSignal.timeout(WAIT_MS);
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('the provider does not answer')), {
        once: true,
      });
    });
    const client = await Promise.race([services.identityProvider.client(ctx, provider, signal), late]);
    if (client.serverMetadata().end_session_endpoint === undefined) return null;
    const place = sealingContext('sessions', session.sessionId, 'sealed_id_token');
    const stored = session.sealedIdToken && services.keyring.open(session.sealedIdToken, place);
    const hint = stored && (await Promise.race([isStillTaken(ctx, provider, stored), late])) ? stored : null;
    const back = { post_logout_redirect_uri: `${services.baseUrl}/sign-in` };
    const plain = buildEndSessionUrl(client, back).href;
    if (hint === null) return plain;
    const hinted = buildEndSessionUrl(client, { ...back, id_token_hint: hint }).href;
    return hinted.length <= ADDRESS_LENGTH ? hinted : plain;
  } catch (error) {
    ctx.log.warn({ reason: messageOf(error) }, 'the session at the provider was not ended');
    return null;
  }
}

/**
 * A provider shows an error to whoever comes with a hint that it cannot check, and leads nobody back from it; without one it
 * asks. That the token has expired is no fault: OpenID Connect RP-Initiated Logout 1.0, section 2.
 */
async function isStillTaken(ctx: Context, provider: OidcProvider, idToken: string): Promise<boolean> {
  try {
    const keys = await ctx.services.identityProvider.keys(provider, { anew: true });
    await compactVerify(idToken, keys, { algorithms: SIGNATURES });
    const { iss, aud } = decodeJwt(idToken);
    return iss === provider.issuer && [aud].flat().includes(provider.clientId);
  } catch {
    return false;
  }
}
