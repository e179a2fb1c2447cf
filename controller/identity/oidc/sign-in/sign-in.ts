/** Sign-in at an identity provider, from the first redirect to a session; and linking, which goes the same way. */
import { buildAuthorizationUrl, calculatePKCECodeChallenge } from 'openid-client';
import type { ProviderOptions } from '../../../../schemas/api/identity-providers.ts';
import { OutgoingError } from '../../../platform/net/outgoing/index.ts';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { readAccessPolicy, type SignedIn } from '../../access/index.ts';
import { type GroupSettings, readGroupSettings } from '../../directory/index.ts';
import type { Problem } from '../links/link-decision.ts';
import { linkOwn } from '../links/link-own-account.ts';
import { ProviderRefused, ProviderUnavailable, requestProvider } from '../provider/provider-request.ts';
import {
  clearReport,
  findOidcProvider,
  noteReport,
  type OidcProvider,
  spendAttempt,
} from '../provider/provider-store.ts';
import { asksOffline } from '../refresh/refresh-token.ts';
import {
  type Attempt,
  clientHash,
  newAttempt,
  openAttempt,
  ownPath,
  sealAttempt,
  stateHash,
} from './attempt.ts';
import { completeSignIn, type Vouched } from './complete-sign-in.ts';
import { groupsClaimOf } from './group-rules.ts';

const SCOPES = 'openid profile email';
/** Of asking for the way to the provider. */
const BEGIN_MS = 15_000;

export const redirectUri = ({ services }: Pick<Context, 'services'>): string =>
  `${services.baseUrl}/api/auth/oidc/callback`;

export type Began =
  | {
      /** At the provider. */
      location: string;
      state: string;
      /** Comes back with the browser, and goes nowhere else. */
      sealed: string;
      expiresAt: Date;
    }
  /** There is no provider, or none that answers: what is wrong with it is in the log. `next` is checked. */
  | { location: null; next: string };

/** `next` is where pages go on, as the browser says; without `providerId` it is the first provider of the sign-in page. */
export async function beginSignIn(
  ctx: Context,
  {
    next,
    link,
    providerId,
    loginHint,
  }: { next: unknown; link: Attempt['link']; providerId: string | null; loginHint: string | null },
): Promise<Began> {
  const path = ownPath(next, ctx.services.baseUrl);
  const provider = await findOidcProvider(ctx.db, providerId);
  if (!provider) return { location: null, next: path };
  const groups = await readGroupSettings(ctx.db);
  const { requestOfflineAccess } = await readAccessPolicy(ctx.db);
  try {
    const client = await ctx.services.identityProvider.client(ctx, provider, AbortSignal.timeout(BEGIN_MS));
    const offline = asksOffline(requestOfflineAccess, client.serverMetadata().scopes_supported);
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
    await noteFailure(ctx, provider, error);
    return { location: null, next: path };
  }
}

/** For administrators: in the log, and in Settings. */
async function noteFailure(ctx: Context, provider: OidcProvider, error: unknown): Promise<void> {
  const message = messageOf(error);
  const reason = error instanceof ProviderUnavailable || error instanceof OutgoingError ? error.reason : null;
  ctx.log.warn(
    { provider: provider.id, issuer: provider.issuer, reason: reason ? `${message}: ${reason}` : message },
    'a sign-in at the provider came to nothing',
  );
  const at = new Date(ctx.clock.now());
  await noteReport(ctx.db, { providerId: provider.id, kind: 'failure', at, message });
}

/** What the last sign-in that went well says of the settings. */
async function noteWarning(ctx: Context, { provider, missingClaim }: Vouched): Promise<void> {
  if (missingClaim === null) return clearReport(ctx.db, provider.id, 'warning');
  const message = `Neither the ID token nor userinfo has the claim "${missingClaim}". Providers leave it out for who is in no group; if that is not so here, add it to the ID token at the provider`;
  const at = new Date(ctx.clock.now());
  await noteReport(ctx.db, { providerId: provider.id, kind: 'warning', at, message });
}

/** Some providers refuse a scope that they do not know, so that of groups is asked for only when they count. */
const scopesOf = (groups: GroupSettings, options: ProviderOptions, offline: boolean): string => {
  const ofGroups =
    groupsClaimOf(groups, options) === null ? '' : options.groupsScope || groups.groupsScope || '';
  const all = `${SCOPES} ${options.scopes} ${ofGroups} ${offline ? 'offline_access' : ''}`;
  return [...new Set(all.split(/\s+/).filter(Boolean))].join(' ');
};

export type SignInEnd =
  | { type: 'signed-in'; signedIn: SignedIn; next: string }
  | { type: 'linked'; next: string }
  | { type: 'problem'; problem: Problem; next: string; linking: boolean };

export interface CameBack {
  /** Of the address that the provider has sent the browser to, with its question mark. */
  search: string;
  /** What `beginSignIn` gave, as the browser brings it. */
  sealed: string | undefined;
  userAgent: string | null;
}

/** `ctx.actor` is who the browser is signed in as, of interest for linking alone. */
export async function finishSignIn(ctx: Context, came: CameBack): Promise<SignInEnd> {
  const attempt = openAttempt(ctx, came.sealed);
  if (!attempt) return { type: 'problem', problem: 'oidc_expired', next: '/', linking: false };
  const end = (problem: Problem): SignInEnd => ({
    ...{ type: 'problem', problem, next: attempt.next, linking: attempt.link !== null },
  });
  const url = new URL(`${redirectUri(ctx)}${came.search}`);
  // Of another try than the cookie's, perhaps in another tab. The rest is checked with the code.
  if (url.searchParams.getAll('state').join(' ') !== attempt.state) return end('oidc_expired');
  const now = new Date(ctx.clock.now());
  if (!(await spendAttempt(ctx.db, stateHash(attempt), now, new Date(attempt.expiresAt))))
    return end('oidc_expired');
  if (attempt.link && !isStill(ctx, attempt.link)) return end('oidc_expired');
  const provider = await findOidcProvider(ctx.db, attempt.providerId);
  if (!provider || clientHash(provider) !== attempt.client) return end('oidc_expired');
  const groupsClaim = groupsClaimOf(await readGroupSettings(ctx.db), provider.options);
  try {
    const told = { ...(await requestProvider(ctx, { provider, attempt, url, groupsClaim })), provider };
    if (told.groups?.known === false)
      ctx.log.warn({ subject: told.subject, reason: told.groups.reason }, 'groups of a sign-in not known');
    const done = attempt.link
      ? await linkOwn(ctx, told, attempt.link)
      : await completeSignIn(ctx, told, came.userAgent);
    if ('problem' in done) return end(done.problem);
    await noteWarning(ctx, told);
    return { ...done, next: attempt.next };
  } catch (error) {
    if (!(error instanceof ProviderRefused) && !(error instanceof ProviderUnavailable)) throw error;
    await noteFailure(ctx, provider, error);
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

const isStill = ({ actor }: Context, link: { sessionId: string }): boolean =>
  actor.type === 'user' && actor.sessionId === link.sessionId;
