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
import { listOidcProviders, type OidcProvider } from '../provider/provider-store.ts';
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
  /** `groups` is null where groups do not count, or the provider does not give them. */
  | { type: 'confirmed'; next: RefreshToken; groups: string[] | null }
  | { type: 'refused' }
  /** The provider confirms the user, but our settings no longer allow them. */
  | { type: 'excluded'; reason: string }
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
  const { options } = provider;
  const claim = groupsClaimOf(await readGroupSettings(ctx.db), options);
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
    const groups = found?.known ? prefixed(found.names, options) : none;
    if (groups !== null && options.allowedGroups.length > 0) {
      const allowed = prefixed(options.allowedGroups, options);
      if (!groups.some((name) => allowed.includes(name)))
        return { type: 'excluded', reason: 'the user is in none of the allowed groups' };
    }
    return { type: 'confirmed', next, groups };
  } catch (error) {
    // RFC 6749, 5.2: the token is invalid, expired or revoked. Any other error concerns the client or the provider.
    if (error instanceof ResponseBodyError && error.error === 'invalid_grant') return { type: 'refused' };
    return { type: 'unknown', reason: messageOf(toProviderError(error, 'the client was refused')) };
  }
}

function applyAnswer(ctx: Context, provider: OidcProvider, due: DueRefresh, answer: Answer): Promise<void> {
  switch (answer.type) {
    case 'confirmed':
      return fenced(ctx, async (inside) => {
        // Lock order: the group rules come before all other locks.
        await lockRulesShared(inside.db);
        // Then the account, in the same order as a sign-in, to avoid a deadlock.
        await lockUserRow(inside.db, due.userId);
        if (!(await confirmByRefresh(inside, due, answer.next)) || answer.groups === null) return;
        await replaceClaimedGroups(inside.db, due, answer.groups);
        await reconcileSuperAdmins(inside, provider, [due.userId]);
        const memberships = await reconcileMemberships(inside, [due.userId]);
        if (memberships.length > 0)
          await recordChange(inside, due, 'user.groupsRefreshed', membershipsForAudit(memberships));
      });
    case 'refused':
    case 'excluded': {
      // An online token ends with its session, and an uncertain token may have been replaced: neither says anything about the user.
      const withdrawn = answer.type === 'excluded' || (due.isOffline && !due.isUncertain);
      return fenced(ctx, async (inside) => {
        await lockUserRow(inside.db, due.userId);
        if (!(await endRefreshing(inside, due, withdrawn)) || !withdrawn) return;
        await deleteSessionsAtProvider(inside, due);
        await recordChange(
          inside,
          due,
          'user.confirmationWithdrawn',
          answer.type === 'excluded' ? { reason: answer.reason } : {},
        );
      });
    }
    case 'unknown':
      ctx.log.warn({ userId: due.userId, reason: answer.reason }, 'the provider could not confirm a user');
      return Promise.resolve();
  }
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
