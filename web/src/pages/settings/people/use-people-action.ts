/** What is done with people and teams, and what is read again after it. */
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { notify } from '../../../components/toasts.tsx';

/** Everything that these pages show. */
export function useRenewPeople(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () =>
    queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) =>
        typeof name === 'string' && /^(team|admin|user)\.|^settings\.(?!checkVersion)/.test(name),
    });
}

interface Told<V, R> {
  run: (input: V) => Promise<R>;
  /** Afterwards, as a note; null where the page itself shows it. */
  done: (output: R, input: V) => string | null;
  /** After it was done and everything was read again. */
  after?: (output: R, input: V) => void;
}

/** The failure is for the form to show. */
export function usePeopleAction<R, V = void>({
  run,
  done,
  after,
}: Told<V, R>): UseMutationResult<R, Error, V> {
  const renew = useRenewPeople();
  return useMutation({
    mutationFn: run,
    onSuccess: async (output, input) => {
      await renew();
      const note = done(output, input);
      if (note !== null) notify(note);
      after?.(output, input);
    },
    // It may have been refused because something moved: then the page shows what.
    onError: renew,
  });
}
