/** When providers last confirmed users, and the refresh tokens for the next confirmation. */
import type { Knex } from 'knex';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import type { Context } from '../../../platform/operation/context.ts';
import type { Identity } from '../links/identities-store.ts';
import type { RefreshToken } from './refresh-token.ts';

const MINUTE_MS = 60_000;

const contextOf = (id: string) => sealingContext('user_identities', id, 'sealed_refresh_token');

/** Spreads the refreshes over the hour. */
export const nextRefresh = (now: number): Date => new Date(now + (30 + Math.random() * 25) * MINUTE_MS);

const refreshColumns = (ctx: Context, id: string, refresh: RefreshToken | null) => ({
  sealed_refresh_token: refresh && ctx.services.keyring.seal(refresh.token, contextOf(id)),
  refresh_is_offline: refresh?.isOffline ?? false,
  refresh_due_at: refresh && nextRefresh(ctx.clock.now()),
  refresh_began_at: null,
});

/** Records the confirmation by a sign-in, after which the account no longer rests. */
export async function confirmAtSignIn(
  ctx: Context,
  { issuer, subject }: Identity,
  refresh: RefreshToken | null,
): Promise<void> {
  const row: { id: string } | undefined = await ctx
    .db('user_identities')
    .where({ issuer, subject })
    .first('id');
  if (!row) return;
  const at = new Date(ctx.clock.now());
  await ctx
    .db('user_identities')
    .where({ id: row.id })
    .update({
      ...{ last_used_at: at, confirmed_at: at, withdrawn_at: null },
      ...refreshColumns(ctx, row.id, refresh),
    });
}

export interface DueRefresh extends Identity {
  id: string;
  userId: string;
  sealedToken: string;
  isOffline: boolean;
  takenAt: Date;
  /** An earlier refresh was interrupted, so the provider may have replaced the token. */
  isUncertain: boolean;
}

interface DueRow extends Identity {
  id: string;
  user_id: string;
  sealed_refresh_token: string;
  refresh_is_offline: boolean;
  began_before: Date | null;
}

const RETRY_MS = 5 * MINUTE_MS;

/** Claims due refreshes. A refresh without a result is due again in five minutes. */
export async function takeDueRefreshes(
  ctx: Context,
  tx: Knex,
  { issuer, limit }: { issuer: string; limit: number },
): Promise<DueRefresh[]> {
  const now = ctx.clock.now();
  const { rows } = await tx.raw<{ rows: DueRow[] }>(
    `UPDATE user_identities i SET refresh_due_at = :retry, refresh_began_at = :now
     FROM (SELECT d.id, d.refresh_began_at FROM user_identities d JOIN users u ON u.id = d.user_id
       WHERE d.sealed_refresh_token IS NOT NULL AND d.refresh_due_at <= :now AND d.issuer = :issuer AND u.locked_at IS NULL
       ORDER BY d.refresh_due_at LIMIT :limit FOR UPDATE OF d SKIP LOCKED) due
     WHERE i.id = due.id
     RETURNING i.id, i.user_id, i.issuer, i.subject, i.sealed_refresh_token, i.refresh_is_offline,
       due.refresh_began_at AS began_before`,
    { issuer, limit, now: new Date(now), retry: new Date(now + RETRY_MS) },
  );
  return rows.map((row) => ({
    ...{ id: row.id, userId: row.user_id, issuer: row.issuer, subject: row.subject },
    ...{ sealedToken: row.sealed_refresh_token, isOffline: row.refresh_is_offline, takenAt: new Date(now) },
    isUncertain: row.began_before !== null,
  }));
}

export const openRefreshToken = ({ services }: Context, due: DueRefresh): string =>
  services.keyring.open(due.sealedToken, contextOf(due.id));

/** Records that the provider confirms the user. False where the link is gone, or a sign-in has replaced the token. */
export async function confirmByRefresh(ctx: Context, due: DueRefresh, next: RefreshToken): Promise<boolean> {
  const changed = await ctx
    .db('user_identities')
    .where({ id: due.id })
    .where('refresh_began_at', due.takenAt)
    .update({
      ...{ confirmed_at: new Date(ctx.clock.now()), withdrawn_at: null },
      ...refreshColumns(ctx, due.id, next),
    });
  return changed > 0;
}

/** Deletes an unusable token. `withdrawn`: the provider no longer confirms the user. */
export async function endRefreshing(ctx: Context, due: DueRefresh, withdrawn: boolean): Promise<boolean> {
  const changed = await ctx
    .db('user_identities')
    .where({ id: due.id })
    .where('refresh_began_at', due.takenAt)
    .update({
      ...refreshColumns(ctx, due.id, null),
      ...(withdrawn ? { withdrawn_at: new Date(ctx.clock.now()) } : {}),
    });
  return changed > 0;
}

/** Online refresh tokens end with the session at the provider; those for offline access do not. */
export async function dropOnlineRefreshTokens(tx: Knex, { issuer, subject }: Identity): Promise<void> {
  await tx('user_identities')
    .where({ issuer, subject, refresh_is_offline: false })
    .update({ sealed_refresh_token: null, refresh_due_at: null, refresh_began_at: null });
}
