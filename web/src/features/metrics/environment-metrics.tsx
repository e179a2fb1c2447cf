import { useQuery } from '@tanstack/react-query';
import type { ChartMetrics } from '../../../../schemas/api/insight/metrics.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { Loaded } from '../../ui/feedback/page-states.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { isEmpty } from './chart-data.ts';
import { ChartsSkeleton } from './charts-skeleton.tsx';
import { MarksList } from './marks-list.tsx';
import { MetricCharts } from './metric-charts.tsx';
import { metricsQueries } from './metrics-queries.ts';
import { NothingReported } from './nothing-reported.tsx';
import { PartsCharts } from './parts-charts.tsx';
import { type RangeControl, useRange } from './range.ts';
import { RangePicker } from './range-picker.tsx';
import './metrics.css';

const GROUPS = [
  { value: 'aggregate', word: 'All together' },
  { value: 'pipeline', word: 'By pipeline' },
  { value: 'node', word: 'By node' },
] as const;

export const EnvironmentMetrics = () => {
  const { environment } = usePlace();
  const range = useRange();
  const [wantedGroup, setGroup] = useAddressParam('by', { replace: true });
  const groupBy = GROUPS.find(({ value }) => value === wantedGroup)?.value ?? 'aggregate';
  const metrics = useQuery(metricsQueries.environment(environment.id, groupBy, range));
  return (
    <Section title="Throughput">
      <div className="metrics-head">
        <RangePicker range={range} comparable={groupBy === 'aggregate'} />
        <SegmentedControl label="Parts" value={groupBy} options={GROUPS} onChange={setGroup} />
      </div>
      <Loaded query={metrics} what="The metrics of this environment" skeleton={<ChartsSkeleton charts={5} />}>
        {(data) => (
          <>
            {isEmpty(data.series) ? (
              <NothingReported />
            ) : groupBy === 'aggregate' ? (
              <Together range={range} data={data} />
            ) : (
              <PartsCharts steps={data} series={data.series} marks={data.marks} zoom={range.zoom} />
            )}
            {groupBy === 'node' && (
              <p className="muted chart-note">Single nodes have points for the last 48 hours.</p>
            )}
            <MarksList marks={data.marks} />
          </>
        )}
      </Loaded>
    </Section>
  );
};

const Together = ({ range, data }: { range: RangeControl; data: ChartMetrics }) => {
  const before = useQuery({
    ...metricsQueries.environment(data.environmentId, 'aggregate', {
      minutes: range.minutes,
      end: data.from,
    }),
    enabled: range.compares,
  });
  const [now] = data.series;
  if (!now) return null;
  const [earlier = null] = range.compares ? (before.data?.series ?? []) : [];
  return <MetricCharts steps={data} now={now} before={earlier} marks={data.marks} zoom={range.zoom} />;
};
