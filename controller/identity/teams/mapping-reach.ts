/**
 * Whose account the ADMIN of a team may lock, unlock, and give a new password: whoever could do that to somebody who may do
 * more than they could sign in as that person. ASVS 5.0 8.2.2.
 */
import type { Actor } from '../../platform/operation/context.ts';

export interface Reached {
  userId: string;
  isSuperAdmin: boolean;
  /** Every team that this person is in. */
  teamIds: readonly string[];
  /** A super admin or a group has put them into one of these teams. */
  vouched: boolean;
}

/** Why this account is out of the caller's reach; null where it is not. Names no team: it may be one of strangers. */
export function outOfReach(caller: Actor, account: Reached): string | null {
  if (caller.type !== 'user') return null;
  if (caller.userId === account.userId)
    return 'This is your own account: change your password under your own settings';
  if (caller.isSuperAdmin) return null;
  if (account.isSuperAdmin) return 'This is a super admin: only another super admin may do that';
  if (!account.teamIds.every((teamId) => caller.roles.get(teamId) === 'ADMIN'))
    return 'This person is in a team in which you are not ADMIN: ask a super admin';
  // Whoever is in no team yet could be put into one to be taken over, before they come to more elsewhere.
  return account.vouched
    ? null
    : 'An ADMIN has put this person into the team, which makes the account none of its own: ask a super admin';
}
