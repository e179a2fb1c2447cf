import { NativeSelect } from '@mantine/core';
import type { UserSummary } from '../../../../../schemas/api/identity/people.ts';
import { useAddressParam } from '../../../app/search-params.ts';

/** In the address. */
const STATES: readonly { value: string; word: string; is: (user: UserSummary) => boolean }[] = [
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

/** The users that the filter of the address leaves, and the filter. */
export function useUserFilters(users: readonly UserSummary[]): {
  shown: readonly UserSummary[];
  filters: ReturnType<typeof StateFilter>;
} {
  const [state, setState] = useAddressParam('state');
  const is = STATES.find(({ value }) => value === state)?.is;
  return { shown: is ? users.filter(is) : users, filters: <StateFilter state={state} setState={setState} /> };
}

const StateFilter = ({ state, setState }: { state: string; setState: (value: string) => void }) => (
  <NativeSelect aria-label="State" value={state} onChange={(event) => setState(event.target.value)}>
    <option value="">Everybody</option>
    {STATES.map(({ value, word }) => (
      <option key={value} value={value}>
        {word}
      </option>
    ))}
  </NativeSelect>
);
