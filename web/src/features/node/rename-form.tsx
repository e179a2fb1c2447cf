import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { NodeSummary } from '../../../../schemas/api/fleet/fleet.ts';
import { api } from '../../api/client.ts';
import { notify } from '../../ui/feedback/toast.tsx';
import { Field } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { useRenewFleet } from '../fleet/nodes/node-actions.ts';

const MAX_NAME = 253;

export const RenameForm = ({ node, close }: { node: NodeSummary; close: () => void }) => {
  const renew = useRenewFleet();
  const [name, setName] = useState(node.name);
  const save = useMutation({
    mutationFn: () => api.fleet.update.mutate({ id: node.id, name: name.trim() }),
    onSuccess: async () => {
      await renew();
      notify(`${node.name} is called ${name.trim()} now.`);
      close();
    },
  });
  return (
    <MutationForm
      mutation={save}
      close={close}
      submit="Save the name"
      working="Saving…"
      disabled={!name.trim() || name.trim() === node.name}
    >
      <Field
        label="Name"
        required
        autoComplete="off"
        value={name}
        onChange={setName}
        maxLength={MAX_NAME}
        autoFocus
        hint={`Shown in lists and alerts. The machine is still ${node.host}, and labels do not follow.`}
      />
    </MutationForm>
  );
};
