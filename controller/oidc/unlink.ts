/** The end of a link to an identity provider's account, whoever has it ended. */
import { type User, updateUser } from '../access/index.ts';
import { membershipsForAudit, reconcileMemberships, replaceClaimedGroups } from '../directory/index.ts';
import type { Context } from '../platform/context.ts';
import { deleteIdentitiesOf } from './identities-store.ts';

/**
 * In a transaction that holds the rules of groups (`holdRules`) and then the row of the account: takes its links away, and
 * what groups of the sign-in gave. Sessions are the caller's to end: a link that is on its way belongs to one, and comes to
 * nothing without it. Answers what the audit row tells of it; null where nothing was linked.
 */
export async function unlinkAccount(ctx: Context, user: User): Promise<Record<string, unknown> | null> {
  const identities = await deleteIdentitiesOf(ctx.db, user.id);
  if (identities.length === 0) return null;
  if (user.authMethod === 'OIDC') await updateUser(ctx.db, user.id, { authMethod: 'PASSWORD' });
  // Nobody tells of these groups any more.
  await replaceClaimedGroups(ctx.db, user.id, []);
  const memberships = await reconcileMemberships(ctx, [user.id]);
  return { identities, ...membershipsForAudit(memberships) };
}
