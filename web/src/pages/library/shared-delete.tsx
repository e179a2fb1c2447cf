import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { SharedComponent } from '../../../../schemas/api/shared-components.ts';
import { api } from '../../api/client.ts';
import { isProduction, usePlace } from '../../app/environment.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { plural } from '../../components/format.ts';
import { InlineError } from '../../components/states.tsx';
import { notify } from '../../components/toasts.tsx';
import { pipelinesOf } from './shared-uses.ts';

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
  const [typed, setTyped] = useState('');
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
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        remove.mutate();
      }}
    >
      <p>
        {users.length === 0
          ? 'No pipeline uses it.'
          : `${plural(component.usedBy.length, 'component')} of ${plural(users.length, 'pipeline')} (${users.map(({ name }) => name).join(', ')}) will be unlinked. Each keeps the config that it has, as its own: nothing that runs changes.`}
      </p>
      {mustConfirm && (
        <Field
          label={`Type ${component.name} to confirm`}
          value={typed}
          onChange={setTyped}
          mono
          autoFocus
          autoComplete="off"
        />
      )}
      {remove.isError && <InlineError error={remove.error} />}
      <div className="form-actions">
        <button type="button" className="button" onClick={close}>
          Keep it
        </button>
        <button
          type="submit"
          className="button"
          data-kind="danger"
          disabled={remove.isPending || (mustConfirm && typed !== component.name)}
        >
          {remove.isPending ? 'Deleting…' : 'Delete the component'}
        </button>
      </div>
    </form>
  );
};
