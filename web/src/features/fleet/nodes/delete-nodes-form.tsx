import { useQueryClient } from '@tanstack/react-query';
import type { NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import { api } from '../../../api/client.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { plural } from '../../../ui/text/format.ts';
import { confirmation } from '../../pipelines/actions/pipeline-actions.ts';
import { nameNodes } from './node-actions.ts';
import type { NodeFormProps } from './node-dialogs.tsx';
import { listed, NodesForm } from './nodes-form.tsx';

interface Props extends NodeFormProps {
  deleted?: () => void;
}

const isHeard = ({ status }: NodeSummary): boolean => status === 'HEALTHY' || status === 'DEGRADED';

export const DeleteNodesForm = ({ nodes, close, deleted }: Props) => {
  const { environment } = usePlace();
  const queryClient = useQueryClient();
  const running = nodes.filter((node) => isHeard(node) && !node.maintenance);
  const one = nodes.length === 1;
  return (
    <NodesForm
      nodes={nodes}
      run={({ id }) => api.fleet.delete.mutate({ id })}
      done={(through) => {
        notify(`${nameNodes(through)} ${through.length === 1 ? 'was' : 'were'} deleted.`);
        close();
        deleted?.();
        // What is gone must not be asked for again.
        for (const { id } of through) queryClient.removeQueries({ queryKey: ['fleet.get', id] });
      }}
      close={close}
      words={{ act: `Delete ${nameNodes(nodes)}`, acting: 'Deleting…' }}
      danger
      confirm={confirmation(environment, nodes)}
    >
      <p>
        {one ? 'The node goes' : `${plural(nodes.length, 'node')} go`} from {environment.name} for good, with
        the labels that were set here and what was reported; what {one ? 'it' : 'they'} wrote stays in the
        logs of the pipelines. {one ? 'Its agent is' : 'Their agents are'} refused from then on; to come back,{' '}
        {one ? 'it enrolls' : 'they enroll'} again with an enrollment token.
      </p>
      {running.length > 0 && (
        <Notice icon="warning" tone="held" role="status">
          {one
            ? 'It is heard of now: its engines run on until the agent is stopped.'
            : `${running.length === nodes.length ? 'All of them' : listed(running.map(({ name }) => name))} ${running.length === 1 ? 'is' : 'are'} heard of now: engines run on there until the agents are stopped.`}{' '}
          To stop them, put {one ? 'the node' : 'the nodes'} into maintenance first.
        </Notice>
      )}
    </NodesForm>
  );
};
