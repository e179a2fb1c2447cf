import type { MigrationSummary } from '../../../../schemas/api/pipelines/migrations.ts';
import { api } from '../../api/client.ts';
import { usePlace } from '../../app/scope.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { useReportedMutation } from '../../ui/form/reported-mutation.ts';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { useRenewMigrations } from './migration-queries.ts';

interface Props {
  migration: Pick<MigrationSummary, 'id' | 'name'> | null;
  close: () => void;
  /** Before what the page shows is read again. */
  leave?: () => void;
}

export const DeleteMigrationDialog = ({ migration, close, leave }: Props) => (
  <Dialog
    title={migration ? `Delete ${migration.name}` : ''}
    opened={migration !== null}
    close={close}
    size="sm"
  >
    {migration && <DeleteForm migration={migration} close={close} leave={leave} />}
  </Dialog>
);

const DeleteForm = ({ migration, close, leave }: Props & { migration: NonNullable<Props['migration']> }) => {
  const { team } = usePlace();
  const renew = useRenewMigrations();
  const remove = useReportedMutation(renew, {
    run: async () => {
      await api.migration.delete.mutate({ id: migration.id, teamId: team.id });
      leave?.();
    },
    done: () => `The migration ${migration.name} is gone.`,
    after: close,
  });
  return (
    <MutationForm mutation={remove} close={close} submit="Delete the migration" working="Deleting…" danger>
      <p>
        Its original and its translations are deleted. Pipelines and pull requests that were made of it stay.
      </p>
    </MutationForm>
  );
};
