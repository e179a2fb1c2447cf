/** Reads of migrations, and the steps that change one. */
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { Migration } from '../../../../schemas/api/pipelines/migrations.ts';
import { api } from '../../api/client.ts';
import { type LiveMeta, live } from '../../api/queries/index.ts';
import { usePlace } from '../../app/scope.tsx';
import { useReportedMutation } from '../../ui/form/reported-mutation.ts';

const meta: LiveMeta = live(['library', 'promotions']);

export const migrationQueries = {
  list: (teamId: string) =>
    queryOptions({
      queryKey: ['migration.list', teamId],
      queryFn: () => api.migration.list.query({ teamId }),
      meta,
    }),
  detail: (teamId: string, id: string) =>
    queryOptions({
      queryKey: ['migration.get', teamId, id],
      queryFn: () => api.migration.get.query({ teamId, id }),
      meta,
      // A text may hold passwords: it is not kept for longer than it is looked at.
      gcTime: 0,
    }),
};

export function useRenewMigrations(): () => Promise<void> {
  const queryClient = useQueryClient();
  return async () => {
    await Promise.all(
      ['migration.list', 'migration.get'].map((name) => queryClient.invalidateQueries({ queryKey: [name] })),
    );
  };
}

/** A step that answers the migration as it is then. Its failure is for the page to show. */
export function useMigrationStep<V = void>(
  run: (input: V) => Promise<Migration>,
  { done, after }: { done: (migration: Migration) => string | null; after?: () => void },
) {
  const { team } = usePlace();
  const queryClient = useQueryClient();
  const renew = useRenewMigrations();
  return useReportedMutation<Migration, V>(renew, {
    run: async (input) => {
      const migration = await run(input);
      queryClient.setQueryData(migrationQueries.detail(team.id, migration.id).queryKey, migration);
      return migration;
    },
    done,
    ...(after && { after }),
  });
}
