/** Sign-in at an identity provider from the first redirect to a session; linking an account takes the same way. */
import { buildAuthorizationUrl, calculatePKCECodeChallenge } from 'openid-client';
import type { ProviderOptions } from '../../../../schemas/api/identity/identity-providers.ts';
import { OutgoingError } from '../../../platform/net/outgoing/index.ts';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { readAccessPolicy, type SignedIn } from '../../access/index.ts';
import { type GroupSettings, readGroupSettings } from '../../directory/index.ts';
import type { Problem } from '../links/link-decision.ts';
import { linkOwnAccount } from '../links/link-own-account.ts';
import { ProviderRefused, ProviderUnavailable, requestProvider } from '../provider/provider-request.ts';
import {
  clearReport,
  consumeAttempt,
  findOidcProvider,
  type OidcProvider,
  writeReport,
} from '../provider/provider-store.ts';
import { requestsOffline } from '../refresh/refresh-token.ts';
import {
  type Attempt,
  clientHash,
  newAttempt,
  openAttempt,
  ownPath,
  sealAttempt,
  stateHash,
} from './attempt.ts';
import { completeSignIn, type VerifiedSignIn } from './complete-sign-in.ts';
import { groupsClaimOf } from './group-rules.ts';

const SCOPES = 'openid profile email';
/** For the requests before the redirect. */
const BEGIN_MS = 15_000;

export const redirectUri = ({ services }: Pick<Context, 'services'>): string =>
  `${services.baseUrl}/api/auth/oidc/callback`;

export type SignInStart =
  | {
      /** The address at the provider. */
      location: string;
      state: string;
      /** For a cookie of the browser only. */
      sealed: string;
      expiresAt: Date;
    }
  /** No provider exists, or it does not answer; the log has the reason. `next` is checked. */
  | { location: null; next: string };

/** `next` is the unchecked path to continue at. Without `providerId` the first provider of the sign-in page is used. */
export async function beginSignIn(
  ctx: Context,
  {
    next,
    link,
    providerId,
    loginHint,
  }: { next: unknown; link: Attempt['link']; providerId: string | null; loginHint: string | null },
): Promise<SignInStart> {
  const path = ownPath(next, ctx.services.baseUrl);
  const provider = await findOidcProvider(ctx.db, providerId);
  if (!provider) return { location: null, next: path };
  const groups = await readGroupSettings(ctx.db);
  const { requestOfflineAccess } = await readAccessPolicy(ctx.db);
  try {
    const client = await ctx.services.identityProvider.client(ctx, provider, AbortSignal.timeout(BEGIN_MS));
    const offline = requestsOffline(requestOfflineAccess, client.serverMetadata().scopes_supported);
    const attempt = newAttempt(ctx, provider, { next: path, link, offline });
    const { options } = provider;
    const location = buildAuthorizationUrl(client, {
      ...options.extraParameters,
      ...(options.prompt && { prompt: options.prompt }),
      ...(options.acrValues && { acr_values: options.acrValues }),
      ...(options.sendsLoginHint && loginHint !== null && { login_hint: loginHint }),
      redirect_uri: redirectUri(ctx),
      scope: scopesOf(groups, options, offline),
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
    });
    return {
      location: location.href,
      state: attempt.state,
      sealed: sealAttempt(ctx, attempt),
      expiresAt: new Date(attempt.expiresAt),
    };
  } catch (error) {
    await recordFailure(ctx, provider, error);
    return { location: null, next: path };
  }
}

/** Records a failure for administrators, in the log and in the settings. */
async function recordFailure(ctx: Context, provider: OidcProvider, error: unknown): Promise<void> {
  const message = messageOf(error);
  const reason = error instanceof ProviderUnavailable || error instanceof OutgoingError ? error.reason : null;
  ctx.log.warn(
    { provider: provider.id, issuer: provider.issuer, reason: reason ? `${message}: ${reason}` : message },
    'a sign-in at the provider failed',
  );
  const at = new Date(ctx.clock.now());
  await writeReport(ctx.db, { providerId: provider.id, kind: 'failure', at, message });
}

/** Records what the last successful sign-in reveals about the settings. */
async function recordWarning(ctx: Context, { provider, missingClaim }: VerifiedSignIn): Promise<void> {
  if (missingClaim === null) return clearReport(ctx.db, provider.id, 'warning');
  const message = `Neither the ID token nor userinfo has the claim "${missingClaim}". Providers omit it for users without groups; otherwise add the claim to the ID token at the provider`;
  const at = new Date(ctx.clock.now());
  await writeReport(ctx.db, { providerId: provider.id, kind: 'warning', at, message });
}

/** The scope of groups is requested only where groups count, because some providers reject unknown scopes. */
const scopesOf = (groups: GroupSettings, options: ProviderOptions, offline: boolean): string => {
  const groupsScope =
    groupsClaimOf(groups, options) === null ? '' : options.groupsScope || groups.groupsScope || '';
  const all = `${SCOPES} ${options.scopes} ${groupsScope} ${offline ? 'offline_access' : ''}`;
  return [...new Set(all.split(/\s+/).filter(Boolean))].join(' ');
};

export type SignInEnd =
  | { type: 'signed-in'; signedIn: SignedIn; next: string }
  | { type: 'linked'; next: string }
  | { type: 'problem'; problem: Problem; next: string; linking: boolean };

export interface Callback {
  /** The query of the callback address, with its question mark. */
  search: string;
  /** The value from `beginSignIn`, as the browser returns it. */
  sealed: string | undefined;
  userAgent: string | null;
}

/** `ctx.actor` is the user of the browser's session, which matters for linking only. */
export async function finishSignIn(ctx: Context, callback: Callback): Promise<SignInEnd> {
  const attempt = openAttempt(ctx, callback.sealed);
  if (!attempt) return { type: 'problem', problem: 'oidc_expired', next: '/', linking: false };
  const end = (problem: Problem): SignInEnd => ({
    ...{ type: 'problem', problem, next: attempt.next, linking: attempt.link !== null },
  });
  const url = new URL(`${redirectUri(ctx)}${callback.search}`);
  // The callback belongs to another attempt than the cookie, perhaps in another tab. The rest is checked with the code.
  if (url.searchParams.getAll('state').join(' ') !== attempt.state) return end('oidc_expired');
  const now = new Date(ctx.clock.now());
  if (!(await consumeAttempt(ctx.db, stateHash(attempt), now, new Date(attempt.expiresAt))))
    return end('oidc_expired');
  if (attempt.link && !isSameSession(ctx, attempt.link)) return end('oidc_expired');
  const provider = await findOidcProvider(ctx.db, attempt.providerId);
  if (!provider || clientHash(provider) !== attempt.client) return end('oidc_expired');
  const groupsClaim = groupsClaimOf(await readGroupSettings(ctx.db), provider.options);
  try {
    const verified = { ...(await requestProvider(ctx, { provider, attempt, url, groupsClaim })), provider };
    if (verified.groups?.known === false)
      ctx.log.warn(
        { subject: verified.subject, reason: verified.groups.reason },
        'the groups of a sign-in are unknown; the previous ones stay',
      );
    const result = attempt.link
      ? await linkOwnAccount(ctx, verified, attempt.link)
      : await completeSignIn(ctx, verified, callback.userAgent);
    if ('problem' in result) return end(result.problem);
    await recordWarning(ctx, verified);
    return { ...result, next: attempt.next };
  } catch (error) {
    if (!(error instanceof ProviderRefused) && !(error instanceof ProviderUnavailable)) throw error;
    await recordFailure(ctx, provider, error);
    const problem = problemOf(error);
    await writeAudit(
      ctx,
      ownScope,
      [{ entityType: 'User', entityId: attempt.link?.userId ?? null, metadata: { method: 'oidc', problem } }],
      'user.signInFailed',
    );
    return end(problem);
  }
}

const problemOf = (error: ProviderRefused | ProviderUnavailable): Problem => {
  if (error instanceof ProviderUnavailable) return 'oidc_unavailable';
  return error.isDenial ? 'oidc_denied' : 'oidc_refused';
};

const isSameSession = ({ actor }: Context, link: { sessionId: string }): boolean =>
  actor.type === 'user' && actor.sessionId === link.sessionId;
