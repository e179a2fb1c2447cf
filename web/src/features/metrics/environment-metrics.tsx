import { useQuery } from '@tanstack/react-query';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { Section } from '../../ui/primitives/page.tsx';
import { Loaded } from '../../ui/primitives/page-states.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { isEmpty } from './chart-data.ts';
import { ChartsSkeleton } from './charts-skeleton.tsx';
import { MetricCharts } from './metric-charts.tsx';
import { metricsQueries } from './metrics-queries.ts';
import { NothingReported } from './nothing-reported.tsx';
import { PartsCharts } from './parts-charts.tsx';
import './metrics.css';

const RANGES = [
  { value: '1h', word: '1 h' },
  { value: '6h', word: '6 h' },
  { value: '1d', word: '1 d' },
  { value: '7d', word: '7 d' },
] as const;
const GROUPS = [
  { value: 'aggregate', word: 'All together' },
  { value: 'pipeline', word: 'By pipeline' },
  { value: 'node', word: 'By node' },
] as const;

export const EnvironmentMetrics = () => {
  const { environment } = usePlace();
  const [wantedRange, setRange] = useAddressParam('range', { replace: true });
  const [wantedGroup, setGroup] = useAddressParam('by', { replace: true });
  const range = RANGES.find(({ value }) => value === wantedRange)?.value ?? '1h';
  const groupBy = GROUPS.find(({ value }) => value === wantedGroup)?.value ?? 'aggregate';
  const metrics = useQuery(metricsQueries.environment(environment.id, range, groupBy));
  return (
    <Section title="Throughput">
      <div className="metrics-head">
        <SegmentedControl label="Time range" value={range} options={RANGES} onChange={setRange} />
        <SegmentedControl label="Parts" value={groupBy} options={GROUPS} onChange={setGroup} />
      </div>
      <Loaded query={metrics} what="The metrics of this environment" skeleton={<ChartsSkeleton charts={5} />}>
        {(data) => {
          const [all] = data.series;
          if (!all || isEmpty(data.series)) return <NothingReported />;
          return groupBy === 'aggregate' ? (
            <MetricCharts steps={data} now={all} before={null} />
          ) : (
            <PartsCharts steps={data} series={data.series} />
          );
        }}
      </Loaded>
    </Section>
  );
};
