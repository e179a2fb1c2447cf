/** What is done with people and teams, and what is read again after it. */
import { type UseMutationResult, useQueryClient } from '@tanstack/react-query';
import { type ReportedMutation, useReportedMutation } from '../../../ui/form/reported-mutation.ts';

/** Everything that these pages show. */
export function useRenewUsers(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () =>
    queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) =>
        typeof name === 'string' && /^(team|admin|user)\.|^settings\.(?!checkVersion)/.test(name),
    });
}

export const useUserMutation = <R, V = void>(
  options: ReportedMutation<V, R>,
): UseMutationResult<R, Error, V> => useReportedMutation(useRenewUsers(), options);
