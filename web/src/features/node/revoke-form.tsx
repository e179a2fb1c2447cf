import { useMutation } from '@tanstack/react-query';
import type { NodeSummary } from '../../../../schemas/api/fleet/fleet.ts';
import { api } from '../../api/client.ts';
import { isProduction, usePlace } from '../../app/scope.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { processesOn, useRenewFleet } from '../fleet/nodes/node-actions.ts';

export const RevokeForm = ({ node, close }: { node: NodeSummary; close: () => void }) => {
  const { environment } = usePlace();
  const renew = useRenewFleet();
  const revoke = useMutation({
    mutationFn: () => api.fleet.revokeNode.mutate({ id: node.id }),
    onSuccess: async () => {
      await renew();
      notify(`The token of ${node.name} was revoked.`);
      close();
    },
  });
  const processes = processesOn([node]);
  return (
    <MutationForm
      mutation={revoke}
      close={close}
      submit="Revoke the token"
      working="Revoking…"
      danger
      confirm={isProduction(environment) ? node.name : null}
      confirmField={{ mono: true }}
    >
      <p>
        The agent of <strong>{node.name}</strong> is refused from now on: it gets no config, no secrets and no
        commands, and its reports are not taken. This cannot be undone; to come back it enrolls again, as a
        new node.
      </p>
      {processes && (
        <p>
          It does not stop engines: {processes} may run on with what they have until the agent is stopped on{' '}
          {node.host}. To stop them from here, put the node into maintenance first.
        </p>
      )}
    </MutationForm>
  );
};
