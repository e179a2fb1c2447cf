/** For the pages: the providers of the sign-in page, and the address that ends the session at a provider. */
import { compactVerify, decodeJwt } from 'jose';
import type { Knex } from 'knex';
import { buildEndSessionUrl } from 'openid-client';
import { FIRST_PROVIDER } from '../../../../schemas/api/identity/identity-providers.ts';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { SIGNATURES } from '../provider/provider-keys.ts';
import {
  listOidcProviders,
  type OidcProvider,
  readStoredProviderSession,
  type StoredProviderSession,
} from '../provider/provider-store.ts';

export interface SignInProvider {
  id: string;
  name: string;
  url: string;
  /** Whether the page sends the entered address along as `login_hint`. */
  takesLoginHint?: true;
}

const LOGIN = '/api/auth/oidc/login';

/** The providers in the order of the sign-in page. */
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

export interface ProviderSession extends StoredProviderSession {
  sessionId: string;
}

/** Call it before the session ends. Null for a session that did not begin at a provider. */
export async function readProviderSession({ db, actor }: Context): Promise<ProviderSession | null> {
  if (actor.type !== 'user') return null;
  const found = await readStoredProviderSession(db, actor.sessionId);
  return found && { ...found, sessionId: actor.sessionId };
}

/** Some servers reject longer addresses: Quarkus, which runs Keycloak, by default accepts a request line of 4,096 bytes. */
const ADDRESS_LENGTH = 3_800;
/** Short, because the user waits for it. */
const WAIT_MS = 3_000;

/**
 * The address to which the browser goes after sign-out, so that the session at the provider ends too: OpenID Connect RP-Initiated
 * Logout 1.0. Null where the provider has no such address or does not answer; the sign-out here is complete either way.
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
    const context = sealingContext('sessions', session.sessionId, 'sealed_id_token');
    const stored = session.sealedIdToken && services.keyring.open(session.sealedIdToken, context);
    const hint =
      stored && (await Promise.race([isAcceptedHint(ctx, provider, stored), late])) ? stored : null;
    const back = { post_logout_redirect_uri: `${services.baseUrl}/sign-in` };
    const plain = buildEndSessionUrl(client, back).href;
    if (hint === null) return plain;
    const hinted = buildEndSessionUrl(client, { ...back, id_token_hint: hint }).href;
    return hinted.length <= ADDRESS_LENGTH ? hinted : plain;
  } catch (error) {
    ctx.log.warn({ reason: messageOf(error) }, 'the session at the provider could not be ended');
    return null;
  }
}

/**
 * A provider shows an error page for a hint that it cannot verify, without a way back; without a hint it asks the user. An
 * expired token is allowed: OpenID Connect RP-Initiated Logout 1.0, section 2.
 */
async function isAcceptedHint(ctx: Context, provider: OidcProvider, idToken: string): Promise<boolean> {
  try {
    const keys = await ctx.services.identityProvider.keys(provider, { fresh: true });
    await compactVerify(idToken, keys, { algorithms: SIGNATURES });
    const { iss, aud } = decodeJwt(idToken);
    return iss === provider.issuer && [aud].flat().includes(provider.clientId);
  } catch {
    return false;
  }
}
