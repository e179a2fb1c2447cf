/** What is done with pull requests and promotions, and what is read again after it. */
import { type UseMutationResult, useQueryClient } from '@tanstack/react-query';
import { type Told, useToldAction } from '../../components/use-told-action.ts';

/** Everything that these pages show. */
export function useRenewPromotions(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () =>
    queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) =>
        typeof name === 'string' && /^(pullRequest\.(?!diff)|promotion\.|gitSync\.status)/.test(name),
    });
}

export const usePromotionWord = <R, V = void>(told: Told<V, R>): UseMutationResult<R, Error, V> =>
  useToldAction(useRenewPromotions(), told);
