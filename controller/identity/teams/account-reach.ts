/**
 * Which accounts the ADMIN of a team may lock, unlock and reset. An ADMIN who could reset a user with more rights could sign in
 * as that user. ASVS 5.0 8.2.2.
 */
import type { Actor } from '../../platform/operation/context.ts';

export interface TargetAccount {
  userId: string;
  isSuperAdmin: boolean;
  /** All teams of this user. */
  teamIds: readonly string[];
  /** A super admin or a group has put the user into one of these teams. */
  vouched: boolean;
}

/** Why the caller may not change this account; null where they may. It names no team, because the caller may not know it. */
export function outOfReachReason(caller: Actor, account: TargetAccount): string | null {
  if (caller.type !== 'user') return null;
  if (caller.userId === account.userId)
    return 'This is your own account: change your password under your own settings';
  if (caller.isSuperAdmin) return null;
  if (account.isSuperAdmin) return 'This is a super admin: only another super admin may do that';
  if (!account.teamIds.every((teamId) => caller.roles.get(teamId) === 'ADMIN'))
    return 'This user is in a team in which you are not ADMIN: ask a super admin';
  // Otherwise an ADMIN could add a user without a team, take over the account, and wait for it to get rights elsewhere.
  return account.vouched
    ? null
    : 'An ADMIN has added this user to the team, which gives no right over the account: ask a super admin';
}
