/** The last hour as a small line: of a pipeline, a node, or an environment. */
import { useQuery } from '@tanstack/react-query';
import { Sparkline } from '../../ui/chart/sparkline.tsx';
import { metricsQueries } from './metrics-queries.ts';

interface Props {
  environmentId: string;
  /** Absent: of all together. */
  of?: { pipelineId: string } | { nodeId: string };
}

const NOTHING: readonly null[] = [];

export const RecentRate = ({ environmentId, of }: Props) => {
  const groupBy = !of ? undefined : 'pipelineId' in of ? 'pipeline' : 'node';
  const id = !of ? '' : 'pipelineId' in of ? of.pipelineId : of.nodeId;
  const { data = NOTHING } = useQuery({
    ...metricsQueries.recentRates(environmentId, groupBy),
    select: ({ series }) => series.find((one) => one.id === id)?.eventsIn ?? NOTHING,
  });
  return <Sparkline values={data} />;
};
