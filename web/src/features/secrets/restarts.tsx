import { useQuery } from '@tanstack/react-query';
import { queries } from '../../api/queries/index.ts';
import { usePlace } from '../../app/scope.tsx';
import { plural } from '../../ui/text/format.ts';

/** What a new value touches: `Restarts 12 processes on 9 nodes: orders, audit.` */
export const Restarts = ({ pipelines }: { pipelines: readonly string[] }) => {
  const { environment } = usePlace();
  const nodes = useQuery({
    ...queries.nodesWithPipelines(environment.id),
    enabled: pipelines.length > 0,
    refetchInterval: false,
  });
  if (pipelines.length === 0)
    return <p className="muted">Nothing that is deployed refers to it, so nothing restarts.</p>;
  const perNode = (nodes.data ?? []).map(
    (node) => node.pipelines.filter(({ pipelineName }) => pipelines.includes(pipelineName)).length,
  );
  const processes = perNode.reduce((sum, count) => sum + count, 0);
  const places = perNode.filter((count) => count > 0).length;
  return (
    <p>
      {nodes.data
        ? processes === 0
          ? 'No node runs what refers to it now: '
          : `Restarts ${plural(processes, 'process', 'processes')} on ${plural(places, 'node')}: `
        : 'Restarts the engines of '}
      <b>{pipelines.join(', ')}</b>. Nodes take it over at their next poll.
    </p>
  );
};
