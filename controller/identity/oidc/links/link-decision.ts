/**
 * Decides which account a sign-in at a provider gets. An address in a token opens no account that the provider did not create:
 * otherwise anybody who can put an address into a token could take over an account. SCIM sets the address of an account, so it
 * must not lead to a super admin's account, nor bypass a password and a second factor. A super admin who unlinks an account
 * permits one link by its address. No I/O.
 */
import type { User } from '../../access/index.ts';
import type { Profile } from '../sign-in/claims.ts';

/** Why a sign-in ends without a session, as the pages know it. */
export type Problem =
  | 'oidc_unavailable'
  | 'oidc_refused'
  /** The provider denies access to this user. */
  | 'oidc_denied'
  | 'not_allowed'
  | 'oidc_expired'
  | 'account_locked'
  | 'email_taken'
  | 'email_unverified'
  | 'no_email'
  | 'already_linked';

export interface Candidates {
  /** The account that is linked to (issuer, subject). */
  linked: User | null;
  /** The only account in SCIM whose `externalId` is this subject. */
  sameExternalId: { user: User; linkedHere: boolean } | null;
  /** The account with the address of the profile. */
  sameAddress: {
    user: User;
    /** The provider manages this account by SCIM. */
    managedByScim: boolean;
    /** The account is linked to another subject of this issuer. */
    linkedHere: boolean;
    /** A super admin has unlinked the account recently. */
    unlinked: boolean;
  } | null;
}

export type LinkDecision =
  | { type: 'known'; user: User }
  | { type: 'adopt'; user: User; by: 'scim' | 'externalId' | 'unlinked' }
  | { type: 'provision'; email: string }
  | { type: 'problem'; problem: Problem; userId: string | null };

const problem = (code: Problem, user: User | null = null): LinkDecision => ({
  type: 'problem',
  problem: code,
  userId: user?.id ?? null,
});

const emailTaken = (user: User): LinkDecision => problem('email_taken', user);

const adopt = (user: User, by: 'scim' | 'externalId' | 'unlinked'): LinkDecision =>
  user.lockedAt ? problem('account_locked', user) : { type: 'adopt', user, by };

export function decideLink(
  { linked, sameExternalId, sameAddress }: Candidates,
  profile: Profile,
): LinkDecision {
  if (linked) return linked.lockedAt ? problem('account_locked', linked) : { type: 'known', user: linked };
  if (sameExternalId) {
    const { user, linkedHere } = sameExternalId;
    return linkedHere || isOwnerControlled(user) ? emailTaken(user) : adopt(user, 'externalId');
  }
  if (sameAddress) {
    const { user, managedByScim, linkedHere, unlinked } = sameAddress;
    const isForeign = linkedHere || isOwnerControlled(user) || !(managedByScim || unlinked);
    // Only a user who has proved the address learns that the account is locked.
    if (isForeign && user.lockedAt && profile.emailVerified) return problem('account_locked', user);
    if (isForeign) return emailTaken(user);
    // SCIM assigned the address itself; otherwise the provider must have verified it.
    if (profile.emailVerified === false || !(managedByScim || profile.emailVerified))
      return problem('email_unverified', user);
    return adopt(user, managedByScim ? 'scim' : 'unlinked');
  }
  if (profile.email === null) return problem('no_email');
  if (profile.emailVerified !== true) return problem('email_unverified');
  return { type: 'provision', email: profile.email };
}

/** Accounts that only their owner may link: super admins, and accounts with a password. */
export const isOwnerControlled = ({ isSuperAdmin, passwordHash }: User): boolean =>
  isSuperAdmin || passwordHash !== null;
