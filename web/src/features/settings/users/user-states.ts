import type { UserSummary } from '../../../../../schemas/api/identity/people.ts';

/** Which users a value of `state` in the address leaves. */
export const USER_STATES: readonly { value: string; word: string; is: (user: UserSummary) => boolean }[] = [
  { value: 'locked', word: 'Locked', is: ({ lockedAt }) => lockedAt !== null },
  { value: 'rests', word: 'Rests', is: ({ restsAt }) => restsAt !== null && restsAt.getTime() <= Date.now() },
  { value: 'super-admin', word: 'Super admins', is: ({ isSuperAdmin }) => isSuperAdmin },
  { value: 'provisioned', word: 'Kept by SCIM', is: ({ provisioned }) => provisioned },
  { value: 'no-team', word: 'In no team', is: ({ teams }) => teams.length === 0 },
  {
    value: 'no-two-factor',
    word: 'Password alone',
    is: ({ authMethod, twoFactorEnabled }) => authMethod === 'PASSWORD' && !twoFactorEnabled,
  },
  {
    value: 'temporary',
    word: 'Temporary password',
    is: ({ mustChangePassword }) => mustChangePassword,
  },
  { value: 'never', word: 'Never signed in', is: ({ lastSignInAt }) => lastSignInAt === null },
];
