import { useMutation } from '@tanstack/react-query';
import type { NodeSummary } from '../../../../schemas/api/fleet/fleet.ts';
import { api } from '../../api/client.ts';
import { notify } from '../../ui/feedback/toast.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { processesOn, useRenewFleet } from '../fleet/nodes/node-actions.ts';

export const RestartForm = ({ node, close }: { node: NodeSummary; close: () => void }) => {
  const renew = useRenewFleet();
  const restart = useMutation({
    mutationFn: () => api.fleet.restartAgent.mutate({ nodeId: node.id }),
    onSuccess: async () => {
      notify(`The agent of ${node.name} was asked to restart. Its uptime starts over when it has.`);
      close();
      await renew();
    },
  });
  const processes = processesOn([node]);
  return (
    <MutationForm
      mutation={restart}
      close={close}
      submit="Restart the agent"
      working="Asking…"
      cancel="Keep it"
    >
      <p>
        The agent restarts with the same process id.{' '}
        {processes === null
          ? 'Nothing runs there now.'
          : `Its engines are stopped in order and started again: ${processes}.`}{' '}
        The request goes through the push channel, so the agent must be connected.
      </p>
    </MutationForm>
  );
};
