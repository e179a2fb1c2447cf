/**
 * Whose account somebody from a provider is let into. A provider's word on an address opens no account that was not made by
 * that provider: whoever can have any address written into a token could take any account over. SCIM says what address an
 * account has, so it must not lead into one that may everything, nor past a password and a second factor. A super admin who unlinks
 * an account says that its address may be believed, once. No I/O.
 */
import type { User } from '../../access/index.ts';
import type { Profile } from '../sign-in/claims.ts';

/** What a sign-in ends with instead, as pages know it. */
export type Problem =
  | 'oidc_unavailable'
  | 'oidc_refused'
  /** The provider says that it lets this person not in. */
  | 'oidc_denied'
  | 'not_allowed'
  | 'oidc_expired'
  | 'account_locked'
  | 'email_taken'
  | 'email_unverified'
  | 'no_email'
  | 'already_linked';

export interface Found {
  /** Whom (issuer, subject) is linked to. */
  linked: User | null;
  /** SCIM keeps exactly one account whose `externalId` is this subject. */
  sameExternalId: { user: User; linkedHere: boolean } | null;
  /** Whose address it is. */
  sameAddress: {
    user: User;
    /** The provider keeps this account by SCIM. */
    keptByScim: boolean;
    /** It is linked to another subject of this issuer. */
    linkedHere: boolean;
    /** A super admin has unlinked it, not too long ago. */
    unlinked: boolean;
  } | null;
}

export type Verdict =
  | { type: 'known'; user: User }
  | { type: 'adopt'; user: User; by: 'scim' | 'externalId' | 'unlinked' }
  | { type: 'provision'; email: string }
  | { type: 'problem'; problem: Problem; userId: string | null };

const problem = (code: Problem, user: User | null = null): Verdict => ({
  type: 'problem',
  problem: code,
  userId: user?.id ?? null,
});

const taken = (user: User): Verdict => problem('email_taken', user);

const adopt = (user: User, by: 'scim' | 'externalId' | 'unlinked'): Verdict =>
  user.lockedAt ? problem('account_locked', user) : { type: 'adopt', user, by };

export function decide({ linked, sameExternalId, sameAddress }: Found, profile: Profile): Verdict {
  if (linked) return linked.lockedAt ? problem('account_locked', linked) : { type: 'known', user: linked };
  if (sameExternalId) {
    const { user, linkedHere } = sameExternalId;
    return linkedHere || isItsOwners(user) ? taken(user) : adopt(user, 'externalId');
  }
  if (sameAddress) {
    const { user, keptByScim, linkedHere, unlinked } = sameAddress;
    const isOthers = linkedHere || isItsOwners(user) || !(keptByScim || unlinked);
    // To whoever has shown that the address is theirs.
    if (isOthers && user.lockedAt && profile.emailVerified) return problem('account_locked', user);
    if (isOthers) return taken(user);
    // SCIM said itself whose address it is; otherwise the provider must vouch for it.
    if (profile.emailVerified === false || !(keptByScim || profile.emailVerified))
      return problem('email_unverified', user);
    return adopt(user, keptByScim ? 'scim' : 'unlinked');
  }
  if (profile.email === null) return problem('no_email');
  if (profile.emailVerified !== true) return problem('email_unverified');
  return { type: 'provision', email: profile.email };
}

/** Whoever has it links it themselves. */
export const isItsOwners = ({ isSuperAdmin, passwordHash }: User): boolean =>
  isSuperAdmin || passwordHash !== null;
