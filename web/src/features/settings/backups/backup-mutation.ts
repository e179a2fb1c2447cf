import { type UseMutationResult, useQueryClient } from '@tanstack/react-query';
import { type ReportedMutation, useReportedMutation } from '../../../ui/form/reported-mutation.ts';

/** Reads the list, the runs and the settings again afterwards. */
export function useBackupMutation<R, V = void>(
  options: ReportedMutation<V, R>,
): UseMutationResult<R, Error, V> {
  const queryClient = useQueryClient();
  const renew = () =>
    queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) =>
        typeof name === 'string' && /^settings\.(listBackups|backupRuns|get)$/.test(name),
    });
  return useReportedMutation(renew, options);
}
