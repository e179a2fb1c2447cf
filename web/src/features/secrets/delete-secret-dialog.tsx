import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SecretSummary } from '../../../../schemas/api/fleet/environments.ts';
import { api } from '../../api/client.ts';
import { isProduction } from '../../app/scope.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { plural } from '../../ui/text/format.ts';
import type { SecretDialogProps } from './secret-dialogs.tsx';
import { storeNoun } from './store-text.ts';

export const DeleteSecretDialog = ({ action, close, ...rest }: SecretDialogProps) => {
  const opened = action?.kind === 'delete';
  return (
    <Dialog title={opened ? `Delete ${action.secret.name}` : 'Delete'} opened={opened} close={close}>
      {opened && <DeleteForm secret={action.secret} close={close} {...rest} />}
    </Dialog>
  );
};

/** What keeps it from being deleted. */
function usersText({ usedBy, usedByEndpoints }: SecretSummary): string {
  const parts = [
    usedBy.length > 0
      ? `${plural(usedBy.length, 'deployed pipeline refers', 'deployed pipelines refer')} to it and must let go of it first: ${usedBy.join(', ')}.`
      : '',
    usedByEndpoints.length > 0
      ? `${plural(usedByEndpoints.length, 'webhook endpoint names', 'webhook endpoints name')} it in git and must name another first: ${usedByEndpoints.join(', ')}.`
      : '',
  ];
  return parts.filter(Boolean).join(' ') || 'Nothing that is deployed refers to it.';
}

const DeleteForm = ({
  environment,
  backend,
  secret,
  close,
}: Omit<SecretDialogProps, 'action'> & { secret: SecretSummary }) => {
  const queryClient = useQueryClient();
  const mustConfirm = isProduction(environment);
  const remove = useMutation({
    mutationFn: () => api.secret.delete.mutate({ id: secret.id, environmentId: environment.id }),
    onSuccess: async ({ stillInStore }) => {
      await queryClient.invalidateQueries({ queryKey: ['secret.list', environment.id] });
      if (stillInStore) notify(`${secret.name} is no longer known here. The store has it on.`);
      close();
    },
  });
  return (
    <MutationForm
      mutation={remove}
      close={close}
      submit="Delete the secret"
      working="Deleting…"
      danger
      disabled={secret.usedBy.length + secret.usedByEndpoints.length > 0}
      confirm={mustConfirm ? secret.name : null}
      confirmField={{ mono: true }}
    >
      <p>
        This deletes <strong className="mono">{secret.name}</strong> from {environment.name}.{' '}
        {backend === 'BUILTIN'
          ? 'Its value cannot be brought back.'
          : `It stays in ${storeNoun(backend)}, and can be registered again.`}
      </p>
      <p>{usersText(secret)}</p>
    </MutationForm>
  );
};
