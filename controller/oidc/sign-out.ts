/** What pages are told of the provider: that one may sign in there, and where to end the session that it keeps itself. */
import type { Knex } from 'knex';
import { buildEndSessionUrl } from 'openid-client';
import type { Context } from '../platform/context.ts';
import { messageOf } from '../platform/errors.ts';
import { sealedPlace } from '../platform/sealed-columns.ts';
import { readOidcSettings, readSessionOfProvider } from './store.ts';

export interface SignInProvider {
  id: 'oidc';
  name: string;
  url: string;
}

/** Ways to sign in beside the password. */
export async function listProviders(db: Knex): Promise<SignInProvider[]> {
  const settings = await readOidcSettings(db);
  if (!settings) return [];
  return [{ id: 'oidc', name: settings.displayName ?? 'Single sign-on', url: '/api/auth/oidc/login' }];
}

export interface ProviderSession {
  sealedIdToken: string | null;
  sessionId: string;
}

/** Before the session ends. Null for one that did not begin at a provider. */
export async function readProviderSession({ db, actor }: Context): Promise<ProviderSession | null> {
  if (actor.type !== 'user') return null;
  const found = await readSessionOfProvider(db, actor.sessionId);
  return found && { ...found, sessionId: actor.sessionId };
}

/** Addresses that are much longer are cut by servers on the way. */
const HINT_LENGTH = 4_000;
/** Somebody waits for it. */
const WAIT_MS = 3_000;

/**
 * Where the browser goes after sign-out, so that the session at the provider ends too: OpenID Connect RP-Initiated Logout 1.0.
 * Null where the provider has no such place, or does not answer: the sign-out here is done either way.
 */
export async function endSessionUrl(ctx: Context, session: ProviderSession): Promise<string | null> {
  const { services } = ctx;
  try {
    const settings = await readOidcSettings(ctx.db);
    if (!settings) return null;
    const signal = AbortSignal.timeout(WAIT_MS);
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('the provider does not answer')), {
        once: true,
      });
    });
    const client = await Promise.race([services.identityProvider.client(ctx, settings, signal), late]);
    if (client.serverMetadata().end_session_endpoint === undefined) return null;
    const place = sealedPlace('sessions', session.sessionId, 'sealed_id_token');
    const hint = session.sealedIdToken && services.keyring.open(session.sealedIdToken, place);
    return buildEndSessionUrl(client, {
      post_logout_redirect_uri: `${services.baseUrl}/sign-in`,
      ...(hint && hint.length <= HINT_LENGTH ? { id_token_hint: hint } : {}),
    }).href;
  } catch (error) {
    ctx.log.warn({ reason: messageOf(error) }, 'the session at the provider was not ended');
    return null;
  }
}
