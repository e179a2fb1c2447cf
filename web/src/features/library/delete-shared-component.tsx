import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SharedComponent } from '../../../../schemas/api/pipelines/shared-components.ts';
import { api } from '../../api/client.ts';
import { isProduction, usePlace } from '../../app/scope.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { plural } from '../../ui/text/format.ts';
import { pipelinesOf } from './shared-component-usage.ts';

interface Props {
  component: SharedComponent;
  opened: boolean;
  close: () => void;
  deleted: () => void;
}

export const DeleteSharedDialog = ({ opened, ...rest }: Props) => (
  <Dialog title={`Delete ${rest.component.name}`} opened={opened} close={rest.close} size="sm">
    {opened && <DeleteForm {...rest} />}
  </Dialog>
);

const DeleteForm = ({ component, close, deleted }: Omit<Props, 'opened'>) => {
  const { environment } = usePlace();
  const queryClient = useQueryClient();
  const mustConfirm = isProduction(environment);
  const users = pipelinesOf(component.usedBy);
  const remove = useMutation({
    mutationFn: () => api.sharedComponent.delete.mutate({ id: component.id, environmentId: environment.id }),
    onSuccess: async ({ unlinked }) => {
      deleted();
      await queryClient.invalidateQueries({ queryKey: ['sharedComponent.list', environment.id] });
      notify(
        `${component.name} is gone. ${unlinked === 0 ? 'Nothing was linked to it.' : `${plural(unlinked, 'component keeps', 'components keep')} the config as ${unlinked === 1 ? 'its' : 'their'} own.`}`,
      );
    },
  });
  return (
    <MutationForm
      mutation={remove}
      close={close}
      submit="Delete the component"
      working="Deleting…"
      danger
      confirm={mustConfirm ? component.name : null}
      confirmField={{ mono: true }}
    >
      <p>
        {users.length === 0
          ? 'No pipeline uses it.'
          : `${plural(component.usedBy.length, 'component')} of ${plural(users.length, 'pipeline')} (${users.map(({ name }) => name).join(', ')}) will be unlinked. Each keeps the config that it has, as its own: nothing that runs changes.`}
      </p>
    </MutationForm>
  );
};
