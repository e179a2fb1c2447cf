/** Stores the groups of a sign-in and reconciles the memberships. */

import type { Context } from '../../../platform/operation/context.ts';
import { type MembershipChange, reconcileMemberships, replaceClaimedGroups } from '../../directory/index.ts';
import type { ClaimedGroups } from './claims.ts';

/** Runs in a transaction. `groups` is null while groups do not count; `note` is for the audit row. */
export async function storeGroups(
  ctx: Context,
  { userId, issuer }: { userId: string; issuer: string },
  groups: ClaimedGroups | null,
): Promise<{ memberships: MembershipChange[]; note: Record<string, unknown> }> {
  if (groups?.known) await replaceClaimedGroups(ctx.db, { userId, issuer }, groups.names);
  return {
    memberships: await reconcileMemberships(ctx, [userId]),
    note: groups?.known === false ? { groupsKept: groups.reason } : {},
  };
}
