/**
 * Asks providers about users in their absence, by refresh tokens: within an hour a user who is disabled there rests, and groups
 * are updated. A provider that does not answer changes nothing.
 */
import { ResponseBodyError, refreshTokenGrant } from 'openid-client';
import pLimit from 'p-limit';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { deleteSessionsAtProvider, lockUserRow } from '../../access/index.ts';
import {
  lockRulesShared,
  membershipsForAudit,
  readGroupSettings,
  reconcileMemberships,
  replaceClaimedGroups,
} from '../../directory/index.ts';
import { completeFromUserinfo, ProviderUnavailable, toProviderError } from '../provider/provider-request.ts';
import { listOidcProviders, lockOidcProviderShared, type OidcProvider } from '../provider/provider-store.ts';
import { groupsAt } from '../sign-in/claims.ts';
import { groupsClaimOf, prefixed } from '../sign-in/group-rules.ts';
import { reconcileSuperAdmins } from '../sign-in/super-admins.ts';
import {
  confirmByRefresh,
  type DueRefresh,
  endRefreshing,
  openRefreshToken,
  takeDueRefreshes,
} from './confirmations-store.ts';
import { type RefreshToken, refreshTokenOf } from './refresh-token.ts';

const CONCURRENCY = 4;
const BATCH = 50;
/** Per run. The next run begins a minute after this one. */
const MAX_BATCHES = 20;
const REFRESH_MS = 20_000;

type Answer =
  /** `groups`: the names in `claim`, without a prefix; null where groups do not count, or the provider does not give them. */
  | { type: 'confirmed'; next: RefreshToken; claim: string | null; groups: readonly string[] | null }
  | { type: 'refused' }
  | { type: 'unknown'; reason: string };

/** Fences every write where `ctx.fence` is set. Returns how many users were checked. */
export async function refreshUsers(ctx: Context): Promise<number> {
  let checkedUsers = 0;
  for (const provider of await listOidcProviders(ctx.db)) checkedUsers += await refreshUsersOf(ctx, provider);
  return checkedUsers;
}

async function refreshUsersOf(ctx: Context, provider: OidcProvider): Promise<number> {
  const limit = pLimit(CONCURRENCY);
  let checkedUsers = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const due = await fenced(ctx, (inside) =>
      takeDueRefreshes(inside, inside.db, { issuer: provider.issuer, limit: BATCH }),
    );
    await Promise.all(
      due.map((one) =>
        limit(async () => {
          try {
            await applyAnswer(ctx, provider, one, await askProvider(ctx, provider, one));
          } catch (error) {
            ctx.log.warn(
              { userId: one.userId, reason: messageOf(error) },
              'the result of a refresh could not be stored',
            );
          }
        }),
      ),
    );
    checkedUsers += due.length;
    if (due.length < BATCH) break;
  }
  return checkedUsers;
}

const fenced = <T>(ctx: Context, work: (inside: Context) => Promise<T>): Promise<T> =>
  ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    return work({ ...ctx, db: tx });
  });

async function askProvider(ctx: Context, provider: OidcProvider, due: DueRefresh): Promise<Answer> {
  const claim = groupsClaimOf(await readGroupSettings(ctx.db), provider.options);
  try {
    const signal = AbortSignal.timeout(REFRESH_MS);
    const client = await ctx.services.identityProvider.client(ctx, provider, signal);
    const token = openRefreshToken(ctx, due);
    const tokens = await refreshTokenGrant(client, token);
    const claims = tokens.claims();
    if (claims && claims.sub !== due.subject)
      return { type: 'unknown', reason: 'the provider answers for somebody else' };
    const { userinfo } = await completeFromUserinfo(
      client,
      tokens.access_token,
      { ...claims, sub: due.subject },
      claim,
    ).catch((error: unknown) => {
      if (toProviderError(error, null) instanceof ProviderUnavailable) return { userinfo: null };
      throw error;
    });
    const found =
      claim === null ? null : (groupsAt(claims ?? {}, claim) ?? (userinfo && groupsAt(userinfo, claim)));
    // An ID token of a refresh need not contain the claim (Core 1.0, 12.2); userinfo without it means no groups.
    const none = claim !== null && found === null && userinfo !== null ? [] : null;
    const next = refreshTokenOf(tokens, due.isOffline) ?? { token, isOffline: due.isOffline };
    return { type: 'confirmed', next, claim, groups: found?.known ? found.names : none };
  } catch (error) {
    // RFC 6749, 5.2: the token is invalid, expired or revoked. Any other error concerns the client or the provider.
    if (error instanceof ResponseBodyError && error.error === 'invalid_grant') return { type: 'refused' };
    return { type: 'unknown', reason: messageOf(toProviderError(error, 'the client was refused')) };
  }
}

function applyAnswer(ctx: Context, asked: OidcProvider, due: DueRefresh, answer: Answer): Promise<void> {
  if (answer.type === 'unknown') {
    ctx.log.warn({ userId: due.userId, reason: answer.reason }, 'the provider could not confirm a user');
    return Promise.resolve();
  }
  return fenced(ctx, async (inside) => {
    // Lock order: the group rules come before all other locks.
    await lockRulesShared(inside.db);
    // The settings may have changed since the provider was asked. An answer to another client says nothing.
    const provider = await lockOidcProviderShared(inside.db, asked);
    if (!provider) return;
    // Then the account, in the same order as a sign-in, to avoid a deadlock.
    await lockUserRow(inside.db, due.userId);
    // An online token ends with its session, and an uncertain token may have been replaced: neither says anything about the user.
    if (answer.type === 'refused') return endConfirmation(inside, due, due.isOffline && !due.isUncertain, {});
    const groups = await currentGroups(inside, provider, answer);
    if (groups !== null && isExcluded(provider, groups))
      return endConfirmation(inside, due, true, { reason: 'the user is in none of the allowed groups' });
    if (!(await confirmByRefresh(inside, due, answer.next)) || groups === null) return;
    await replaceClaimedGroups(inside.db, due, groups);
    await reconcileSuperAdmins(inside, provider, [due.userId]);
    const memberships = await reconcileMemberships(inside, [due.userId]);
    if (memberships.length > 0)
      await recordChange(inside, due, 'user.groupsRefreshed', membershipsForAudit(memberships));
  });
}

/** With the prefix; null where the groups are unknown, also because another claim names them by now. */
async function currentGroups(
  ctx: Context,
  { options }: OidcProvider,
  { claim, groups }: Extract<Answer, { type: 'confirmed' }>,
): Promise<string[] | null> {
  const isCurrent = claim === groupsClaimOf(await readGroupSettings(ctx.db), options);
  return groups !== null && isCurrent ? prefixed(groups, options) : null;
}

/** The provider confirms the user, but our settings no longer allow them. */
function isExcluded({ options }: OidcProvider, groups: readonly string[]): boolean {
  const allowed = prefixed(options.allowedGroups, options);
  return allowed.length > 0 && !groups.some((name) => allowed.includes(name));
}

/** `withdrawn`: the user rests; else the token alone is deleted. */
async function endConfirmation(
  ctx: Context,
  due: DueRefresh,
  withdrawn: boolean,
  metadata: { reason?: string },
): Promise<void> {
  if (!(await endRefreshing(ctx, due, withdrawn)) || !withdrawn) return;
  await deleteSessionsAtProvider(ctx, due);
  await recordChange(ctx, due, 'user.confirmationWithdrawn', metadata);
}

async function recordChange(
  ctx: Context,
  due: DueRefresh,
  action: string,
  more: Record<string, unknown>,
): Promise<void> {
  const metadata = { issuer: due.issuer, ...more };
  await writeAudit(ctx, ownScope, [{ entityType: 'User', entityId: due.userId, metadata }], action);
  await ctx.services.bus.publish(ctx.db, { type: 'user', userId: due.userId });
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['teams'] });
}
