import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { PipelineMetrics } from '../../../../schemas/api/insight/metrics.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { Loaded } from '../../ui/feedback/page-states.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { anomalyQueries } from '../anomalies/anomaly-queries.ts';
import { PipelineAnomalies } from '../anomalies/pipeline-anomalies.tsx';
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

const PARTS = [
  { value: '', word: 'All together' },
  { value: 'component', word: 'By component' },
  { value: 'node', word: 'By node' },
] as const;

export const PipelineMetricsTab = ({ pipeline }: { pipeline: { id: string; name: string } }) => {
  const range = useRange();
  const [by, setBy] = useAddressParam('by', { replace: true });
  const part = PARTS.find(({ value }) => value === by)?.value ?? '';
  return (
    <Stack gap="md">
      <Section title="Metrics">
        <div className="metrics-head">
          <RangePicker range={range} comparable={part === ''} />
          <SegmentedControl label="Parts" value={part} options={PARTS} onChange={setBy} />
        </div>
        {part === '' ? (
          <Whole pipelineId={pipeline.id} range={range} />
        ) : (
          <Parts pipelineId={pipeline.id} range={range} by={part} />
        )}
      </Section>
      <PipelineAnomalies pipeline={pipeline} />
    </Stack>
  );
};

const Whole = ({ pipelineId, range }: { pipelineId: string; range: RangeControl }) => {
  const metrics = useQuery(metricsQueries.pipeline(pipelineId, range));
  return (
    <Loaded query={metrics} what="The metrics of this pipeline" skeleton={<ChartsSkeleton charts={5} />}>
      {(data) => <Charts pipelineId={pipelineId} range={range} data={data} />}
    </Loaded>
  );
};

const Charts = ({
  pipelineId,
  range,
  data,
}: {
  pipelineId: string;
  range: RangeControl;
  data: PipelineMetrics;
}) => {
  const before = useQuery({
    ...metricsQueries.pipeline(pipelineId, { minutes: range.minutes, end: data.from }),
    enabled: range.compares,
  });
  const { environment } = usePlace();
  const { data: unusual } = useQuery(anomalyQueries.ofPipeline(environment.id, pipelineId));
  const [now] = data.series;
  if (!now || (isEmpty(data.series) && data.marks.length === 0)) return <NothingReported />;
  const [earlier = null] = range.compares ? (before.data?.series ?? []) : [];
  return (
    <>
      <MetricCharts
        steps={data}
        now={now}
        before={earlier}
        marks={data.marks}
        anomalies={unusual?.anomalies}
        zoom={range.zoom}
      />
      <MarksList marks={data.marks} />
    </>
  );
};

const Parts = ({
  pipelineId,
  range,
  by,
}: {
  pipelineId: string;
  range: RangeControl;
  by: 'component' | 'node';
}) => {
  const metrics = useQuery(metricsQueries.parts(pipelineId, by, range));
  return (
    <Loaded query={metrics} what="The metrics of this pipeline" skeleton={<ChartsSkeleton charts={3} />}>
      {(data) =>
        isEmpty(data.series) ? (
          <NothingReported />
        ) : (
          <>
            <PartsCharts steps={data} series={data.series} zoom={range.zoom} />
            <p className="muted chart-note">
              {by === 'node' ? 'Single nodes' : 'Components'} have points for the last 48 hours.
            </p>
          </>
        )
      }
    </Loaded>
  );
};
