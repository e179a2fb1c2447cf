/** What people say to the loop, and what is read again after it. */
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import { notify, notifyFailure } from '../../../ui/feedback/toast.tsx';
import { type GitObject, nameOfObject } from '../git-object.ts';

/** Everything that the page shows of the loop. */
export function useRenewGit(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () =>
    queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) => typeof name === 'string' && name.startsWith('gitSync.'),
    });
}

interface ReportedMutation<V> {
  run: (input: V) => Promise<unknown>;
  /** Afterwards, as a note. */
  done: (input: V) => string;
  /** With which the sentence begins where it failed. Without one the failure is for the form to show. */
  failed?: (input: V) => string;
  close?: () => void;
}

export function useWord<V = void>({
  run,
  done,
  failed,
  close,
}: ReportedMutation<V>): UseMutationResult<unknown, Error, V> {
  const renew = useRenewGit();
  return useMutation({
    mutationFn: run,
    onSuccess: async (_, input) => {
      await renew();
      notify(done(input));
      close?.();
    },
    onError: (error, input) => {
      if (failed) notifyFailure(failed(input), error);
    },
  });
}

export const useSyncNow = (environmentId: string) =>
  useWord({
    run: () => api.gitSync.syncNow.mutate({ environmentId }),
    done: () => 'Git is looked at now.',
    failed: () => 'The sync was not started',
  });

export const useResume = (environmentId: string) =>
  useWord<GitObject | null>({
    run: (object) => api.gitSync.resume.mutate({ environmentId, ...object }),
    done: (object) => `${object ? nameOfObject(object) : 'The loop'} goes on.`,
    failed: (object) => `${object ? nameOfObject(object) : 'The loop'} was not resumed`,
  });
