import { type UseMutationResult, useQueryClient } from '@tanstack/react-query';
import { type ReportedMutation, useReportedMutation } from '../../../ui/form/reported-mutation.ts';

/** Reads again what the pages show of the assistant. */
export function useAssistantMutation<R, V = void>(
  options: ReportedMutation<V, R>,
): UseMutationResult<R, Error, V> {
  const queryClient = useQueryClient();
  const renew = () =>
    queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) => typeof name === 'string' && name.startsWith('ai.'),
    });
  return useReportedMutation(renew, options);
}
