/** What is done with pull requests and promotions, and what is read again after it. */
import { type UseMutationResult, useQueryClient } from '@tanstack/react-query';
import { type ReportedMutation, useReportedMutation } from '../../ui/form/reported-mutation.ts';

/** Everything that these pages show. */
export function useRenewPromotions(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () =>
    queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) =>
        typeof name === 'string' && /^(pullRequest\.(?!diff)|promotion\.|gitSync\.status)/.test(name),
    });
}

export const usePromotionMutation = <R, V = void>(
  options: ReportedMutation<V, R>,
): UseMutationResult<R, Error, V> => useReportedMutation(useRenewPromotions(), options);
