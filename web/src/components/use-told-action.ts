/** Something that is done by a word: what the pages show of it is read again, and then it is said that it was done. */
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { notify, notifyFailure } from './toasts.tsx';

export interface Told<V, R> {
  run: (input: V) => Promise<R>;
  /** Afterwards, as a note; null where the page itself shows it. */
  done: (output: R, input: V) => string | null;
  /** With which the sentence begins where it failed. Without one the failure is for the form to show. */
  failed?: string;
  /** After it was done and everything was read again. */
  after?: (output: R, input: V) => void;
}

/** `renew` reads again what the pages show. */
export function useToldAction<R, V = void>(
  renew: () => Promise<void>,
  { run, done, failed, after }: Told<V, R>,
): UseMutationResult<R, Error, V> {
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
