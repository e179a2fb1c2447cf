/** Locks and memberships in words. */
export interface Locked {
  lockedAt: Date | null;
  lockedBy: 'admin' | 'scim' | null;
}

/** Who may lift a lock depends on who has made it. */
export const lockedMeans = (account: Locked): string =>
  account.lockedBy === 'scim'
    ? 'Locked by the identity provider, which lifts it when it activates the account again. A super admin can too.'
    : 'Locked by an administrator: the identity provider cannot lift that.';

/** Where a membership comes from, and what that means for it. */
export const SOURCES = {
  manual: { word: 'By hand', means: 'Somebody added them here. No group changes it.' },
  group: {
    word: 'By group',
    means: 'A group of the identity provider leads here: when they leave the group, they leave the team.',
  },
} as const;

/** Why somebody cannot be taken out of a team here; null where they can. */
export const whyInTeam = (source: keyof typeof SOURCES): string | null =>
  source === 'group'
    ? 'A group of the identity provider leads here: take them out of it there, or change what it leads to.'
    : null;
