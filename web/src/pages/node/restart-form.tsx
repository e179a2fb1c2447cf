import { useMutation } from '@tanstack/react-query';
import type { NodeSummary } from '../../../../schemas/api/fleet.ts';
import { api } from '../../api/client.ts';
import { MutationForm } from '../../components/mutation-form.tsx';
import { notify } from '../../components/toasts.tsx';
import { processesOn, useRenewFleet } from '../fleet/node-actions.ts';

export const RestartForm = ({ node, close }: { node: NodeSummary; close: () => void }) => {
  const renew = useRenewFleet();
  const restart = useMutation({
    mutationFn: () => api.fleet.restartAgent.mutate({ nodeId: node.id }),
    onSuccess: async () => {
      notify(`The agent of ${node.name} was told to start anew. Its time up begins again when it has.`);
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
        The agent starts anew in its place, with the same process id.{' '}
        {processes === null
          ? 'Nothing runs there now.'
          : `Its engines are stopped in order and started again: ${processes}.`}{' '}
        It is told by the push channel, so it must be connected.
      </p>
    </MutationForm>
  );
};
