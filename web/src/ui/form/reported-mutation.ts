/** Something that is done by a word: what the pages show of it is read again, and then it is said that it was done. */
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { notify, notifyFailure } from '../feedback/toast.tsx';

export interface ReportedMutation<V, R> {
  run: (input: V) => Promise<R>;
  /** Afterwards, as a note; null where the page itself shows it. */
  done: (output: R, input: V) => string | null;
  /** With which the sentence begins where it failed. Without one the failure is for the form to show. */
  failed?: string;
  /** After it was done and everything was read again. */
  after?: (output: R, input: V) => void;
  /** By which others see that it runs (`useIsMutating`). */
  key?: readonly unknown[];
}

/** `renew` reads again what the pages show. */
export function useReportedMutation<R, V = void>(
  renew: () => Promise<void>,
  { run, done, failed, after, key }: ReportedMutation<V, R>,
): UseMutationResult<R, Error, V> {
  return useMutation({
    ...(key && { mutationKey: key }),
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
