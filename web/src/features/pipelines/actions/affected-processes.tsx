import { useQuery } from '@tanstack/react-query';
import type { PipelineSummary } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { queries } from '../../../api/queries/index.ts';
import { plural } from '../../../ui/text/format.ts';
import { processesOf } from './process-count.ts';

/** `3 processes on 3 nodes`. One pipeline has one process a node, so that its own counts tell. */
export const Processes = ({ env, pipelines }: { env: string; pipelines: readonly PipelineSummary[] }) => {
  const [only] = pipelines;
  const single = pipelines.length === 1 ? only : undefined;
  const fleet = useQuery({ ...queries.nodesWithPipelines(env), enabled: !single });
  if (single) {
    const { running, starting, crashed } = single.nodeCounts;
    return inWords(running + starting + crashed, running + starting + crashed);
  }
  if (!fleet.data) return 'what runs of them';
  const { processes, nodes } = processesOf(fleet.data, new Set(pipelines.map(({ id }) => id)));
  return inWords(processes, nodes);
};

const inWords = (processes: number, nodes: number): string =>
  `${plural(processes, 'process', 'processes')} on ${plural(nodes, 'node')}`;
