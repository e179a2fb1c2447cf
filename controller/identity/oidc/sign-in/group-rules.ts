/** What groups of a provider decide beside teams: who may come in, and who is a super admin. No I/O. */
import type { ProviderOptions } from '../../../../schemas/api/identity-providers.ts';
import type { GroupSettings } from '../../directory/index.ts';
import type { ProviderIdentity } from '../provider/provider-request.ts';

const GROUPS_CLAIM = 'groups';

/** The claim with the groups; null while nothing hangs on them. */
export const groupsClaimOf = (groups: GroupSettings, options: ProviderOptions): string | null =>
  groups.groupSyncEnabled || options.allowedGroups.length > 0 || options.superAdminGroups.length > 0
    ? options.groupsClaim || groups.groupsClaim || GROUPS_CLAIM
    : null;

/** As they are stored: with what tells them from those of other providers. */
export const prefixed = (names: readonly string[], { groupPrefix }: ProviderOptions): string[] =>
  names.map((name) => `${groupPrefix}${name}`);

export interface Exclusion {
  problem: 'not_allowed' | 'email_unverified';
  reason: string;
}

const notAllowed = (reason: string): Exclusion => ({ problem: 'not_allowed', reason });

/** Why somebody is not let in; null where they are. What is not known lets nobody in. */
export function exclusionOf(
  options: ProviderOptions,
  { profile, groups }: Pick<ProviderIdentity, 'profile' | 'groups'>,
): Exclusion | null {
  const { allowedDomains, allowedGroups } = options;
  if (allowedDomains.length > 0) {
    const domain = profile.email?.slice(profile.email.lastIndexOf('@') + 1).toLowerCase();
    if (domain === undefined || !allowedDomains.includes(domain))
      return notAllowed('the address is in none of the allowed domains');
    if (profile.emailVerified !== true)
      return {
        problem: 'email_unverified',
        reason: 'the address is not verified, so that its domain says nothing',
      };
  }
  if (allowedGroups.length === 0) return null;
  if (!groups?.known)
    return notAllowed(`groups are not known: ${groups?.reason ?? 'the provider does not say'}`);
  const allowed = prefixed(allowedGroups, options);
  return groups.names.some((name) => allowed.includes(name))
    ? null
    : notAllowed('in none of the allowed groups');
}
