import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { api } from '../../../api/client.ts';
import { paths } from '../../../app/paths.ts';
import { usePlace } from '../../../app/scope.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { Field } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { useRenewFleet } from './node-actions.ts';

interface Props {
  opened: boolean;
  close: () => void;
}

const MAX_NAME = 253;
const MAX_PORT = 65_535;

/** Makes a node before its agent comes. */
export const CreateNodeDialog = ({ opened, close }: Props) => (
  <Dialog title="Add a node by hand" opened={opened} close={close}>
    {opened && <Form close={close} />}
  </Dialog>
);

const Form = ({ close }: { close: () => void }) => {
  const { environment } = usePlace();
  const navigate = useNavigate();
  const renew = useRenewFleet();
  const [name, setName] = useState('');
  const [host, setHost] = useState('');
  const [port, setPort] = useState('');
  const apiPort = port.trim() === '' ? null : Number(port);
  const wrongPort = apiPort !== null && !(Number.isInteger(apiPort) && apiPort >= 1 && apiPort <= MAX_PORT);
  const wrongHost = /\s/.test(host.trim());
  const create = useMutation({
    mutationFn: () =>
      api.fleet.create.mutate({
        environmentId: environment.id,
        name: name.trim(),
        host: host.trim(),
        ...(apiPort === null ? {} : { apiPort }),
      }),
    onSuccess: async ({ id }) => {
      await renew();
      notify(`${name.trim()} waits for an agent from ${host.trim()}.`, {
        word: 'Open',
        run: () => void navigate(paths.node(environment.id, id)),
      });
      close();
    },
  });
  return (
    <MutationForm
      mutation={create}
      close={close}
      submit="Add the node"
      working="Adding…"
      disabled={!name.trim() || !host.trim() || wrongPort || wrongHost}
    >
      <p className="muted">
        For a machine whose agent comes later: the first agent that enrolls from that host takes the node
        over, with the labels that it is given here meanwhile. Most nodes need none of this; “Enroll a node”
        makes them by themselves.
      </p>
      <Field
        label="Name"
        value={name}
        onChange={setName}
        required
        autoComplete="off"
        maxLength={MAX_NAME}
        autoFocus
      />
      <Field
        label="Host"
        value={host}
        onChange={setHost}
        mono
        required
        maxLength={MAX_NAME}
        problem={wrongHost ? 'A host name has no spaces.' : ''}
        hint="As the machine calls itself: what the command hostname prints there."
      />
      <Field
        label="Port of its agent"
        value={port}
        onChange={setPort}
        inputMode="numeric"
        problem={wrongPort ? 'A whole number from 1 to 65,535, or nothing.' : ''}
        hint="Only noted down: the controller never connects to a node."
      />
    </MutationForm>
  );
};
