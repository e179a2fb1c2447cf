import { useQuery } from '@tanstack/react-query';
import type { FleetNode, NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { usePlace } from '../../../app/scope.tsx';
import { notify, notifyFailure } from '../../../ui/feedback/toast.tsx';
import { plural } from '../../../ui/text/format.ts';
import { confirmation } from '../../pipelines/actions/pipeline-actions.ts';
import { wantedBy } from './label-preview.ts';
import { nameNodes, processesOn, useRenewFleet } from './node-actions.ts';
import type { NodeFormProps } from './node-dialogs.tsx';
import { listed, NodesForm, NotConcerned } from './nodes-form.tsx';

const turn = (enabled: boolean) => (node: NodeSummary) =>
  api.fleet.setMaintenance.mutate({ nodeId: node.id, enabled });

/** Reverts it for all, one after the other; failures are reported. */
function useTurnBack(): (nodes: readonly NodeSummary[], enabled: boolean) => Promise<void> {
  const renew = useRenewFleet();
  return async (nodes, enabled) => {
    for (const node of nodes) {
      try {
        await turn(enabled)(node);
      } catch (error) {
        notifyFailure(`${node.name} was left as it is`, error);
      }
    }
    await renew();
  };
}

export const MaintainForm = ({ nodes, close }: NodeFormProps) => {
  const { environment } = usePlace();
  const turnBack = useTurnBack();
  const concerned = nodes.filter(({ maintenance }) => !maintenance);
  return (
    <NodesForm
      nodes={concerned}
      run={turn(true)}
      done={(through) => {
        const undo = (): void => void turnBack(through, false);
        notify(`${nameNodes(through)} ${are(through)} in maintenance.`, { word: 'Undo', run: undo });
        close();
      }}
      close={close}
      words={{ act: `Put ${nameNodes(concerned)} into maintenance`, acting: 'Asking…' }}
      danger
      confirm={confirmation(environment, concerned)}
    >
      <Stopped nodes={concerned} />
      <p className="muted">
        In maintenance a node is served no pipelines. It stays enrolled, is heard as before, and gets its
        pipelines back when the maintenance ends.
      </p>
      <NotConcerned
        nodes={nodes.filter(({ maintenance }) => maintenance)}
        why="because they are in maintenance"
      />
    </NodesForm>
  );
};

const are = (nodes: readonly unknown[]): string => (nodes.length === 1 ? 'is' : 'are');

/** What it stops, by name where there is one node only. */
const Stopped = ({ nodes }: { nodes: readonly NodeSummary[] }) => {
  const [only] = nodes;
  const one = useQuery({ ...queries.node(only?.id ?? ''), enabled: nodes.length === 1 });
  const processes = processesOn(nodes);
  const names = nodes.length === 1 ? namesRunning(one.data) : [];
  return (
    <p>
      {processes === null ? 'Nothing runs there now.' : `This stops ${processes}`}
      {processes !== null && (names.length > 0 ? `: ${listed(names)}.` : '.')}
    </p>
  );
};

const namesRunning = (node: FleetNode | undefined): string[] =>
  (node?.pipelines ?? [])
    .filter(({ status }) => status !== 'PENDING' && status !== 'STOPPED')
    .map(({ pipelineName }) => pipelineName);

export const ReleaseForm = ({ nodes, close }: NodeFormProps) => {
  const { environment } = usePlace();
  const turnBack = useTurnBack();
  const pipelines = useQuery(queries.pipelines(environment.id));
  const concerned = nodes.filter(({ maintenance }) => maintenance);
  const wanted = concerned.map(({ labels }) => wantedBy(pipelines.data ?? [], labels));
  const processes = wanted.reduce((sum, names) => sum + names.length, 0);
  const places = wanted.filter((names) => names.length > 0).length;
  return (
    <NodesForm
      nodes={concerned}
      run={turn(false)}
      done={(through) => {
        const undo = (): void => void turnBack(through, true);
        notify(`The maintenance of ${nameNodes(through)} has ended.`, { word: 'Undo', run: undo });
        close();
      }}
      close={close}
      words={{ act: 'End the maintenance', acting: 'Asking…' }}
    >
      <p>
        {!pipelines.data
          ? 'Starts what should run there.'
          : processes === 0
            ? 'No pipeline should run there, so nothing starts.'
            : `This starts ${plural(processes, 'process', 'processes')} on ${plural(places, 'node')}`}
        {processes > 0 && (wanted.length === 1 ? `: ${listed(wanted[0] ?? [])}.` : '.')}
      </p>
      <NotConcerned
        nodes={nodes.filter(({ maintenance }) => !maintenance)}
        why="because they are not in maintenance"
      />
    </NodesForm>
  );
};
