import { Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { WebhookEndpoint } from '../../../../schemas/api/insight/notifications.ts';
import { api } from '../../api/client.ts';
import { DoneAction, MutationForm } from '../../ui/form/mutation-form.tsx';
import { CommandBlock } from '../../ui/primitives/command-block.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { BecomesNotice, useBecameGit } from '../ownership/git-edits.tsx';
import { deleteEndpoint, renewEndpoints } from './endpoint-calls.ts';
import { EndpointForm } from './endpoint-form.tsx';
import { endpointName } from './endpoint-text.ts';

export type EndpointAction =
  | { kind: 'create' }
  | { kind: 'edit'; endpoint: WebhookEndpoint }
  | { kind: 'rotate'; endpoint: WebhookEndpoint }
  | { kind: 'delete'; endpoint: WebhookEndpoint };

interface Props {
  action: EndpointAction | null;
  close: () => void;
}

const titleOf = (action: EndpointAction | null): string => {
  if (action === null || action.kind === 'create') return 'New endpoint';
  const name = endpointName(action.endpoint);
  if (action.kind === 'edit') return `Change ${name}`;
  return action.kind === 'rotate' ? `Rotate the secret of ${name}` : `Delete ${name}`;
};

export const EndpointDialogs = ({ action, close }: Props) => (
  <Dialog
    title={titleOf(action)}
    opened={action !== null}
    close={close}
    size={action?.kind === 'create' || action?.kind === 'edit' ? 'lg' : 'md'}
  >
    {(action?.kind === 'create' || action?.kind === 'edit') && (
      <Edit endpoint={action.kind === 'edit' ? action.endpoint : null} close={close} />
    )}
    {action?.kind === 'rotate' && <RotateForm endpoint={action.endpoint} close={close} />}
    {action?.kind === 'delete' && <DeleteForm endpoint={action.endpoint} close={close} />}
  </Dialog>
);

const Edit = ({ endpoint, close }: { endpoint: WebhookEndpoint | null; close: () => void }) => {
  const [secret, setSecret] = useState<string | null>(null);
  if (secret !== null) return <SecretOnce secret={secret} close={close} />;
  return (
    <EndpointForm
      endpoint={endpoint}
      close={close}
      done={(generated) => (generated === null ? close() : setSecret(generated))}
    />
  );
};

const SecretOnce = ({ secret, close }: { secret: string; close: () => void }) => (
  <Stack gap="lg">
    <p role="status">
      Copy the signing secret now: it is shown <strong>only once</strong>. Your receiver needs it to verify
      messages.
    </p>
    <CommandBlock label="the signing secret" lines={[secret]} />
    <DoneAction close={close} />
  </Stack>
);

interface FormProps {
  endpoint: WebhookEndpoint;
  close: () => void;
}

const RotateForm = ({ endpoint: { id, teamId }, close }: FormProps) => {
  const queryClient = useQueryClient();
  const rotate = useMutation({
    mutationFn: () => api.webhookEndpoint.rotateSecret.mutate({ id, teamId }),
    onSuccess: () => renewEndpoints(queryClient),
  });
  if (rotate.data) return <SecretOnce secret={rotate.data.secret} close={close} />;
  return (
    <MutationForm mutation={rotate} close={close} submit="Rotate the secret" working="Rotating…">
      <p>
        A new secret is generated and shown once. For 24 hours messages carry both signatures: put the new
        secret into the receiver within that time.
      </p>
    </MutationForm>
  );
};

const DeleteForm = ({ endpoint, close }: FormProps) => {
  const queryClient = useQueryClient();
  const became = useBecameGit();
  const remove = useMutation({
    mutationFn: async () => became(await deleteEndpoint(endpoint)),
    onSuccess: async () => {
      await renewEndpoints(queryClient);
      close();
    },
  });
  return (
    <MutationForm mutation={remove} close={close} submit="Delete the endpoint" working="Deleting…" danger>
      <BecomesNotice git={endpoint.git} what="Deleting it" />
      <p>
        Nothing is sent to <strong>{endpointName(endpoint)}</strong> any more, and the history of its
        deliveries is deleted. To pause it instead, disable it.
      </p>
    </MutationForm>
  );
};
