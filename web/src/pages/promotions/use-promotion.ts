/** What is done with pull requests and promotions, and what is read again after it. */
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { notify, notifyFailure } from '../../components/toasts.tsx';

/** Everything that these pages show. */
export function useRenewPromotions(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () =>
    queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) =>
        typeof name === 'string' && /^(pullRequest\.(?!diff)|promotion\.|gitSync\.status)/.test(name),
    });
}

interface Told<V, R> {
  run: (input: V) => Promise<R>;
  /** Afterwards, as a note; null where the page itself shows it. */
  done: (output: R, input: V) => string | null;
  /** With which the sentence begins where it failed. Without one the failure is for the form to show. */
  failed?: string;
  /** After it was done and everything was read again. */
  after?: (output: R, input: V) => void;
}

export function usePromotionWord<R, V = void>({
  run,
  done,
  failed,
  after,
}: Told<V, R>): UseMutationResult<R, Error, V> {
  const renew = useRenewPromotions();
  return useMutation({
    mutationFn: run,
    onSuccess: async (output, input) => {
      await renew();
      const note = done(output, input);
      if (note !== null) notify(note);
      after?.(output, input);
    },
    onError: async (error) => {
      // It may have been refused because something moved: then the page shows what.
      await renew();
      if (failed) notifyFailure(failed, error);
    },
  });
}
