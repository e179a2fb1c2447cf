/** Sign-in at an identity provider, from the first redirect to a session; and linking, which goes the same way. */
import { buildAuthorizationUrl, calculatePKCECodeChallenge } from 'openid-client';
import { readAccessPolicy, type SignedIn } from '../access/index.ts';
import { type GroupSettings, readGroupSettings } from '../directory/index.ts';
import { writeAudit } from '../platform/audit-writer.ts';
import type { Context } from '../platform/context.ts';
import { messageOf } from '../platform/errors.ts';
import { ownScope } from '../platform/operation.ts';
import { askProvider, ProviderRefused, ProviderUnavailable } from './ask-provider.ts';
import {
  type Attempt,
  clientHash,
  newAttempt,
  openAttempt,
  ownPath,
  sealAttempt,
  stateHash,
} from './attempt.ts';
import { letIn } from './let-in.ts';
import { linkOwn } from './link-own.ts';
import type { Problem } from './linking.ts';
import { asksOffline } from './refresh-token.ts';
import { readOidcSettings, spendAttempt } from './store.ts';

const SCOPES = 'openid profile email';
export const GROUPS_CLAIM = 'groups';
/** Of asking for the way to the provider. */
const BEGIN_MS = 15_000;

const redirectUri = ({ services }: Pick<Context, 'services'>): string =>
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

/** `next` is where pages go on, as the browser says. */
export async function beginSignIn(
  ctx: Context,
  { next, link }: { next: unknown; link: Attempt['link'] },
): Promise<Began> {
  const path = ownPath(next, ctx.services.baseUrl);
  const settings = await readOidcSettings(ctx.db);
  if (!settings) return { location: null, next: path };
  const groups = await readGroupSettings(ctx.db);
  const { requestOfflineAccess } = await readAccessPolicy(ctx.db);
  try {
    const client = await ctx.services.identityProvider.client(ctx, settings, AbortSignal.timeout(BEGIN_MS));
    const offline = asksOffline(requestOfflineAccess, client.serverMetadata().scopes_supported);
    const attempt = newAttempt(ctx, settings, { next: path, link, offline });
    const location = buildAuthorizationUrl(client, {
      redirect_uri: redirectUri(ctx),
      scope: scopesOf(groups, offline),
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
    ctx.log.warn({ issuer: settings.issuer, reason: messageOf(error) }, 'nobody can sign in at the provider');
    return { location: null, next: path };
  }
}

/** Some providers refuse a scope that they do not know, so that of groups is asked for only when they count. */
const scopesOf = ({ groupSyncEnabled, groupsScope }: GroupSettings, offline: boolean): string =>
  [
    ...new Set(
      `${SCOPES} ${groupSyncEnabled ? (groupsScope ?? '') : ''} ${offline ? 'offline_access' : ''}`
        .split(/\s+/)
        .filter(Boolean),
    ),
  ].join(' ');

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
  const settings = await readOidcSettings(ctx.db);
  if (!settings || clientHash(settings) !== attempt.client) return end('oidc_expired');
  const groups = await readGroupSettings(ctx.db);
  const groupsClaim = groups.groupSyncEnabled ? (groups.groupsClaim ?? GROUPS_CLAIM) : null;
  try {
    const told = await askProvider(ctx, { settings, attempt, url, groupsClaim });
    if (told.groups?.known === false)
      ctx.log.warn({ subject: told.subject, reason: told.groups.reason }, 'groups of a sign-in not known');
    const done = attempt.link
      ? await linkOwn(ctx, { ...told, clientId: settings.clientId }, attempt.link)
      : await letIn(ctx, { ...told, clientId: settings.clientId }, came.userAgent);
    if ('problem' in done) return end(done.problem);
    return { ...done, next: attempt.next };
  } catch (error) {
    if (!(error instanceof ProviderRefused) && !(error instanceof ProviderUnavailable)) throw error;
    ctx.log.warn(
      { issuer: settings.issuer, reason: error.message },
      'a sign-in at the provider came to nothing',
    );
    const problem = error instanceof ProviderRefused ? 'oidc_refused' : 'oidc_unavailable';
    await writeAudit(
      ctx,
      ownScope,
      [{ entityType: 'User', entityId: attempt.link?.userId ?? null, metadata: { method: 'oidc', problem } }],
      'user.signInFailed',
    );
    return end(problem);
  }
}

const isStill = ({ actor }: Context, link: { sessionId: string }): boolean =>
  actor.type === 'user' && actor.sessionId === link.sessionId;
