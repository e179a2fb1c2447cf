import { NativeSelect } from '@mantine/core';
import type { UserSummary } from '../../../../../schemas/api/identity/people.ts';
import { useAddressParam } from '../../../app/search-params.ts';
import { USER_STATES } from './user-states.ts';

/** The users that the filter of the address leaves, and the filter. */
export function useUserFilters(users: readonly UserSummary[]): {
  shown: readonly UserSummary[];
  filters: ReturnType<typeof StateFilter>;
} {
  const [state, setState] = useAddressParam('state');
  const is = USER_STATES.find(({ value }) => value === state)?.is;
  return { shown: is ? users.filter(is) : users, filters: <StateFilter state={state} setState={setState} /> };
}

const StateFilter = ({ state, setState }: { state: string; setState: (value: string) => void }) => (
  <NativeSelect aria-label="State" value={state} onChange={(event) => setState(event.target.value)}>
    <option value="">Everybody</option>
    {USER_STATES.map(({ value, word }) => (
      <option key={value} value={value}>
        {word}
      </option>
    ))}
  </NativeSelect>
);
