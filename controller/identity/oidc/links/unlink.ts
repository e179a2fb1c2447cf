/** The end of a link to an identity provider's account, whoever has it ended. */
import type { Knex } from 'knex';
import type { Context } from '../../../platform/operation/context.ts';
import { type User, updateUser } from '../../access/index.ts';
import { clearClaimedGroups, membershipsForAudit, reconcileMemberships } from '../../directory/index.ts';
import { endSuperAdminsBy } from '../sign-in/super-admins-store.ts';
import { deleteIdentitiesOf, deleteIdentitiesOfIssuer, type Identity, isLinked } from './identities-store.ts';
import { allowRelinkOf } from './relink-store.ts';

/**
 * In a transaction that holds the rules of groups (`holdRules`) and then the row of the account: takes its links away, or
 * the one of an issuer; with the last of them goes what groups of the sign-in gave. Sessions are the caller's to end: a link
 * that is on its way belongs to one, and comes to nothing without it. Answers what the audit row tells of it; null where
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

/** The same without the memberships, which are the caller's to reconcile. */
export async function dropLinks(
  tx: Knex,
  user: User,
  issuer: string | null = null,
): Promise<{ identities: Identity[] } | null> {
  const identities = await deleteIdentitiesOf(tx, user.id, issuer);
  if (identities.length === 0) return null;
  // Nobody tells of these groups any more.
  await clearClaimedGroups(tx, [user.id]);
  await endSuperAdminsBy(
    tx,
    identities.map((one) => one.issuer),
    [user.id],
  );
  if (await isLinked(tx, user.id)) return { identities };
  // Without a password it is still the provider that opens it, once it is linked again.
  if (user.authMethod === 'OIDC' && user.passwordHash !== null)
    await updateUser(tx, user.id, { authMethod: 'PASSWORD' });
  return { identities };
}

/**
 * In a transaction that holds the rules of groups, and the accounts: the same for everybody of an issuer. Personal tokens
 * stay: those of accounts that nobody else opens rest until the next sign-in.
 */
export async function unlinkAllOf(
  ctx: Context,
  issuer: string,
): Promise<{ userIds: string[]; relinkable: number; memberships: Record<string, unknown> }> {
  const userIds = await deleteIdentitiesOfIssuer(ctx.db, issuer);
  await clearClaimedGroups(ctx.db, userIds);
  // Whom its groups made a super admin is none any more, and may be joined like everybody.
  await endSuperAdminsBy(ctx.db, [issuer], userIds);
  const relinkable = await allowRelinkOf(ctx.db, userIds, new Date(ctx.clock.now()));
  const memberships = await reconcileMemberships(ctx, userIds);
  return { userIds, relinkable, memberships: membershipsForAudit(memberships) };
}
