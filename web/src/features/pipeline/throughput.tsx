import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { MetricsMark } from '../../../../schemas/api/insight/metrics.ts';
import { TimeChart } from '../../ui/chart/time-chart.tsx';
import { Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { formatRate } from '../../ui/text/format.ts';
import { type Line, linesOf, timesOf } from '../metrics/chart-data.ts';
import { metricsQueries } from '../metrics/metrics-queries.ts';
import { useMarks } from '../metrics/use-marks.ts';

const LINES: readonly Line[] = [
  { name: 'Events in', of: 'eventsIn', color: '--accent' },
  { name: 'Events out', of: 'eventsOut', color: '--ok-fill' },
  { name: 'Errors', of: 'errors', color: '--failed-fill' },
];
const NO_MARKS: readonly MetricsMark[] = [];
const LAST_HOUR = { minutes: 60, end: null };

export const Throughput = ({ pipelineId }: { pipelineId: string }) => {
  const metrics = useQuery(metricsQueries.pipeline(pipelineId, LAST_HOUR));
  const { data } = metrics;
  const marks = useMarks(data?.marks ?? NO_MARKS);
  const drawn = useMemo(() => {
    const [series] = data?.series ?? [];
    return series && data ? { times: timesOf(data), series: linesOf(LINES, series, null) } : null;
  }, [data]);
  return (
    <Loaded
      query={metrics}
      what="The throughput"
      skeleton={<SkeletonBlock height={188} label="Loading the chart" />}
    >
      {() => drawn && <TimeChart title="Events" format={formatRate} marks={marks} {...drawn} />}
    </Loaded>
  );
};
