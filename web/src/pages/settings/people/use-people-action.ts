/** What is done with people and teams, and what is read again after it. */
import { type UseMutationResult, useQueryClient } from '@tanstack/react-query';
import { type Told, useToldAction } from '../../../components/use-told-action.ts';

/** Everything that these pages show. */
export function useRenewPeople(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () =>
    queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) =>
        typeof name === 'string' && /^(team|admin|user)\.|^settings\.(?!checkVersion)/.test(name),
    });
}

export const usePeopleAction = <R, V = void>(told: Told<V, R>): UseMutationResult<R, Error, V> =>
  useToldAction(useRenewPeople(), told);
