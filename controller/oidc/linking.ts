/**
 * Whose account somebody from a provider is let into. A provider's word on an address opens no account that was not made by
 * that provider: whoever can have any address written into a token could take any account over. SCIM says what address an
 * account has, so it must not lead into one that may everything, nor past a password and a second factor. No I/O.
 */
import type { User } from '../access/index.ts';
import type { Profile } from './claims.ts';

/** What a sign-in ends with instead, as pages know it. */
export type Problem =
  | 'oidc_unavailable'
  | 'oidc_refused'
  | 'oidc_expired'
  | 'account_locked'
  | 'email_taken'
  | 'email_unverified'
  | 'no_email'
  | 'already_linked';

export interface Found {
  /** Whom (issuer, subject) is linked to. */
  linked: User | null;
  /** Whose address it is. */
  sameAddress: {
    user: User;
    /** The provider keeps this account by SCIM. */
    keptByScim: boolean;
    /** It is linked to another subject of this issuer. */
    linkedHere: boolean;
  } | null;
}

export type Verdict =
  | { type: 'known'; user: User }
  | { type: 'adopt'; user: User }
  | { type: 'provision'; email: string }
  | { type: 'problem'; problem: Problem; userId: string | null };

const problem = (code: Problem, user: User | null = null): Verdict => ({
  type: 'problem',
  problem: code,
  userId: user?.id ?? null,
});

export function decide({ linked, sameAddress }: Found, profile: Profile): Verdict {
  if (linked) return linked.lockedAt ? problem('account_locked', linked) : { type: 'known', user: linked };
  if (sameAddress) {
    const { user, keptByScim, linkedHere } = sameAddress;
    if (!keptByScim || linkedHere || isItsOwners(user)) return problem('email_taken', user);
    if (profile.emailVerified === false) return problem('email_unverified', user);
    return user.lockedAt ? problem('account_locked', user) : { type: 'adopt', user };
  }
  if (profile.email === null) return problem('no_email');
  if (profile.emailVerified === false) return problem('email_unverified');
  return { type: 'provision', email: profile.email };
}

/** Whoever has it links it themselves. */
export const isItsOwners = ({ isSuperAdmin, passwordHash }: User): boolean =>
  isSuperAdmin || passwordHash !== null;
