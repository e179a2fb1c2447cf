import type { TeamMember } from '../../../../../schemas/api/identity/people.ts';
import { whyInTeam } from '../accounts/account-text.ts';

export interface MemberRights {
  /** Why something cannot be done. */
  reasons: string[];
  /** And unlock. */
  mayLock: boolean;
  mayReset: boolean;
  mayRemove: boolean;
}

type Account = Pick<TeamMember, 'accountOutOfReach' | 'lockedBy' | 'authMethod' | 'source'>;

/** What an ADMIN of a team may do with the account of a member, and with the membership. */
export function memberRights({ accountOutOfReach, lockedBy, authMethod, source }: Account): MemberRights {
  const outOfReach = accountOutOfReach !== null;
  const staysLocked = lockedBy === 'scim';
  const hasNoPassword = authMethod === 'OIDC';
  const whyIn = whyInTeam(source);
  const reasons = [
    accountOutOfReach,
    !outOfReach && staysLocked
      ? 'The identity provider has locked the account: activate it there, or ask a super admin.'
      : null,
    !outOfReach && hasNoPassword ? 'They sign in at the identity provider, which keeps the password.' : null,
    whyIn,
  ].filter((reason) => reason !== null);
  return {
    reasons,
    mayLock: !outOfReach && !staysLocked,
    mayReset: !outOfReach && !hasNoPassword,
    mayRemove: whyIn === null,
  };
}
