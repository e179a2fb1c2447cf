/** The groups that a provider names at a sign-in, and the memberships that follow. */

import type { Context } from '../../../platform/operation/context.ts';
import { type MembershipChange, reconcileMemberships, replaceClaimedGroups } from '../../directory/index.ts';
import type { ClaimedGroups } from './claims.ts';

/** In a transaction. `groups` is null while they do not count; `note` is for the audit row. */
export async function takeGroups(
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
