/** Removes links of accounts to identity providers, for users and super admins alike. */
import type { Knex } from 'knex';
import type { Context } from '../../../platform/operation/context.ts';
import { type User, updateUser } from '../../access/index.ts';
import { clearClaimedGroups, membershipsForAudit, reconcileMemberships } from '../../directory/index.ts';
import { revokeSuperAdmins } from '../sign-in/super-admins-store.ts';
import { deleteIdentities, deleteIdentitiesOfIssuer, type Identity, isLinked } from './identities-store.ts';
import { allowRelink } from './relink-store.ts';

/**
 * Removes all links of an account, or its link to one issuer. Call it in a transaction that holds the group rules
 * (`lockRulesShared`) and then the row of the account. Groups of the removed issuers no longer count. The caller ends the
 * sessions: a link under way belongs to a session and fails without it. Returns the metadata of the audit row; null where
 * nothing was linked.
 */
export async function unlinkAccount(
  ctx: Context,
  user: User,
  issuer: string | null = null,
): Promise<Record<string, unknown> | null> {
  const dropped = await dropLinks(ctx.db, user, issuer);
  if (!dropped) return null;
  const memberships = await reconcileMemberships(ctx, [user.id]);
  return { ...dropped, ...membershipsForAudit(memberships) };
}

/** The same, but the caller reconciles the memberships. */
export async function dropLinks(
  tx: Knex,
  user: User,
  issuer: string | null = null,
): Promise<{ identities: Identity[] } | null> {
  const identities = await deleteIdentities(tx, user.id, issuer);
  if (identities.length === 0) return null;
  // No provider confirms these groups any more.
  await clearClaimedGroups(tx, [user.id]);
  await revokeSuperAdmins(
    tx,
    identities.map((one) => one.issuer),
    [user.id],
  );
  if (await isLinked(tx, user.id)) return { identities };
  // An account without a password still belongs to the provider and can be linked again.
  if (user.authMethod === 'OIDC' && user.passwordHash !== null)
    await updateUser(tx, user.id, { authMethod: 'PASSWORD' });
  return { identities };
}

/**
 * Removes all links of an issuer. Call it in a transaction that holds the group rules and the accounts. Personal tokens stay;
 * those of accounts without another way to sign in rest until the next sign-in.
 */
export async function unlinkAllAccounts(
  ctx: Context,
  issuer: string,
): Promise<{ userIds: string[]; relinkable: number; memberships: Record<string, unknown> }> {
  const userIds = await deleteIdentitiesOfIssuer(ctx.db, issuer);
  await clearClaimedGroups(ctx.db, userIds);
  // Super admins by groups of the issuer lose that right, so they may be linked again like other users.
  await revokeSuperAdmins(ctx.db, [issuer], userIds);
  const relinkable = await allowRelink(ctx.db, userIds, new Date(ctx.clock.now()));
  const memberships = await reconcileMemberships(ctx, userIds);
  return { userIds, relinkable, memberships: membershipsForAudit(memberships) };
}
