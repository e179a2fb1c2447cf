/** What a provider's groups decide besides teams: who may sign in, and who is a super admin. No I/O. */
import type { ProviderOptions } from '../../../../schemas/api/identity/identity-providers.ts';
import type { GroupSettings } from '../../directory/index.ts';
import type { ProviderIdentity } from '../provider/provider-request.ts';

const DEFAULT_GROUPS_CLAIM = 'groups';

/** The claim with the groups; null while no setting needs groups. */
export const groupsClaimOf = (groups: GroupSettings, options: ProviderOptions): string | null =>
  groups.groupSyncEnabled || options.allowedGroups.length > 0 || options.superAdminGroups.length > 0
    ? options.groupsClaim || groups.groupsClaim || DEFAULT_GROUPS_CLAIM
    : null;

/** Group names as they are stored, with the prefix of the provider. */
export const prefixed = (names: readonly string[], { groupPrefix }: ProviderOptions): string[] =>
  names.map((name) => `${groupPrefix}${name}`);

export interface Exclusion {
  problem: 'not_allowed' | 'email_unverified';
  reason: string;
}

const notAllowed = (reason: string): Exclusion => ({ problem: 'not_allowed', reason });

/** Why the settings exclude the user; null where they do not. Unknown groups exclude. */
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
        reason: 'the address is not verified, so its domain does not count',
      };
  }
  if (allowedGroups.length === 0) return null;
  if (!groups?.known)
    return notAllowed(`the groups are unknown: ${groups?.reason ?? 'the provider does not send them'}`);
  const allowed = prefixed(allowedGroups, options);
  return groups.names.some((name) => allowed.includes(name))
    ? null
    : notAllowed('the user is in none of the allowed groups');
}
