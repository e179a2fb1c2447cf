/**
 * Asks the provider after people without them, by refresh tokens: within the hour somebody who is disabled there rests, and
 * groups follow. A provider that does not answer changes nothing.
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
import { explained, lookCloser, ProviderUnavailable } from '../provider/provider-request.ts';
import { listOidcProviders, type OidcProvider } from '../provider/provider-store.ts';
import { groupsAt } from '../sign-in/claims.ts';
import { groupsClaimOf, prefixed } from '../sign-in/group-rules.ts';
import { followSuperAdmins } from '../sign-in/super-admins.ts';
import {
  confirmByRefresh,
  type DueRefresh,
  endRefreshing,
  openRefreshToken,
  takeDueRefreshes,
} from './confirmations-store.ts';
import { type RefreshToken, refreshTokenOf } from './refresh-token.ts';

const AT_ONCE = 4;
const BATCH = 50;
/** Of one run: the next begins a minute after this one. */
const BATCHES = 20;
const REFRESH_MS = 20_000;

type Answer =
  /** `groups` is null where they do not count, or the provider does not say. */
  | { type: 'confirmed'; next: RefreshToken; groups: string[] | null }
  | { type: 'refused' }
  /** The provider knows them; but who may come in is said here, and they may not any more. */
  | { type: 'excluded'; reason: string }
  | { type: 'unknown'; reason: string };

/** Every write is fenced where `ctx.fence` is. Answers how many were asked after. */
export async function refreshUsers(ctx: Context): Promise<number> {
  let asked = 0;
  for (const provider of await listOidcProviders(ctx.db)) asked += await refreshPeopleOf(ctx, provider);
  return asked;
}

async function refreshPeopleOf(ctx: Context, provider: OidcProvider): Promise<number> {
  const limit = pLimit(AT_ONCE);
  let asked = 0;
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const due = await fenced(ctx, (inside) =>
      takeDueRefreshes(inside, inside.db, { issuer: provider.issuer, limit: BATCH }),
    );
    await Promise.all(
      due.map((one) =>
        limit(async () => {
          try {
            await settle(ctx, provider, one, await ask(ctx, provider, one));
          } catch (error) {
            ctx.log.warn({ userId: one.userId, reason: messageOf(error) }, 'a refresh was not stored');
          }
        }),
      ),
    );
    asked += due.length;
    if (due.length < BATCH) break;
  }
  return asked;
}

const fenced = <T>(ctx: Context, work: (inside: Context) => Promise<T>): Promise<T> =>
  ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    return work({ ...ctx, db: tx });
  });

async function ask(ctx: Context, provider: OidcProvider, due: DueRefresh): Promise<Answer> {
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
    const { userinfo } = await lookCloser(
      client,
      tokens.access_token,
      { ...claims, sub: due.subject },
      claim,
    ).catch((error: unknown) => {
      if (explained(error, null) instanceof ProviderUnavailable) return { userinfo: null };
      throw error;
    });
    const found =
      claim === null ? null : (groupsAt(claims ?? {}, claim) ?? (userinfo && groupsAt(userinfo, claim)));
    // Without a claim the ID token of a refresh says nothing (Core 1.0, 12.2); userinfo says that there are none.
    const none = claim !== null && found === null && userinfo !== null ? [] : null;
    const next = refreshTokenOf(tokens, due.isOffline) ?? { token, isOffline: due.isOffline };
    const groups = found?.known ? prefixed(found.names, options) : none;
    if (groups !== null && options.allowedGroups.length > 0) {
      const allowed = prefixed(options.allowedGroups, options);
      if (!groups.some((name) => allowed.includes(name)))
        return { type: 'excluded', reason: 'in none of the allowed groups' };
    }
    return { type: 'confirmed', next, groups };
  } catch (error) {
    // RFC 6749, 5.2: the token is invalid, expired or revoked. Any other error is the client's, or the provider's.
    if (error instanceof ResponseBodyError && error.error === 'invalid_grant') return { type: 'refused' };
    return { type: 'unknown', reason: messageOf(explained(error, 'the client was refused')) };
  }
}

function settle(ctx: Context, provider: OidcProvider, due: DueRefresh, answer: Answer): Promise<void> {
  switch (answer.type) {
    case 'confirmed':
      return fenced(ctx, async (inside) => {
        // Before all other locks, as wherever groups are looked at.
        await lockRulesShared(inside.db);
        // Then the account, as a sign-in does: each would wait for the other otherwise.
        await lockUserRow(inside.db, due.userId);
        if (!(await confirmByRefresh(inside, due, answer.next)) || answer.groups === null) return;
        await replaceClaimedGroups(inside.db, due, answer.groups);
        await followSuperAdmins(inside, provider, [due.userId]);
        const memberships = await reconcileMemberships(inside, [due.userId]);
        if (memberships.length > 0)
          await tell(inside, due, 'user.groupsRefreshed', membershipsForAudit(memberships));
      });
    case 'refused':
    case 'excluded': {
      // One that ends with a session there says nothing of the person; nor one that may have been replaced unseen.
      const withdrawn = answer.type === 'excluded' || (due.isOffline && !due.isUncertain);
      return fenced(ctx, async (inside) => {
        await lockUserRow(inside.db, due.userId);
        if (!(await endRefreshing(inside, due, withdrawn)) || !withdrawn) return;
        await deleteSessionsAtProvider(inside, due);
        await tell(
          inside,
          due,
          'user.confirmationWithdrawn',
          answer.type === 'excluded' ? { reason: answer.reason } : {},
        );
      });
    }
    case 'unknown':
      ctx.log.warn(
        { userId: due.userId, reason: answer.reason },
        'the provider was not asked after somebody',
      );
      return Promise.resolve();
  }
}

async function tell(
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
