import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { NodeMetrics as Metrics } from '../../../../schemas/api/insight/metrics.ts';
import { TimeChart } from '../../ui/chart/time-chart.tsx';
import type { TimeSeries } from '../../ui/chart/time-series.ts';
import { Loaded } from '../../ui/feedback/page-states.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { formatBytes, formatBytesRate, formatPercent, formatRate } from '../../ui/text/format.ts';
import { linesOf, timesOf } from './chart-data.ts';
import { ChartsSkeleton } from './charts-skeleton.tsx';
import { MarksList } from './marks-list.tsx';
import { metricsQueries } from './metrics-queries.ts';
import { NothingReported } from './nothing-reported.tsx';
import { useRange } from './range.ts';
import { RangePicker } from './range-picker.tsx';
import { useMarks } from './use-marks.ts';
import './metrics.css';

export const NodeMetrics = ({ nodeId }: { nodeId: string }) => {
  const range = useRange();
  const metrics = useQuery(metricsQueries.node(nodeId, range));
  return (
    <Section title="Metrics">
      <div className="metrics-head">
        <RangePicker range={range} />
      </div>
      <Loaded query={metrics} what="The metrics of this node" skeleton={<ChartsSkeleton charts={6} />}>
        {(data) => (
          <HostCharts
            nodeId={nodeId}
            data={data}
            minutes={range.minutes}
            compares={range.compares}
            zoom={range.zoom}
          />
        )}
      </Loaded>
    </Section>
  );
};

type MeasureName = Exclude<keyof Metrics, 'marks'>;

interface Measure {
  name: string;
  of: MeasureName;
  color: string;
}
interface Chart {
  title: string;
  measures: readonly Measure[];
  format: (value: number) => string;
  top?: number;
}

const percent = (value: number): string => formatPercent(value / 100);

const CHARTS: readonly Chart[] = [
  {
    title: 'Processor',
    measures: [{ name: 'Busy', of: 'cpuPercent', color: '--accent' }],
    format: percent,
    top: 100,
  },
  {
    title: 'Memory',
    measures: [
      { name: 'Used', of: 'memoryUsedBytes', color: '--accent' },
      { name: 'There is', of: 'memoryTotalBytes', color: '--unknown-fill' },
    ],
    format: formatBytes,
  },
  {
    title: 'Load',
    measures: [{ name: 'Of one minute', of: 'loadAvg1', color: '--accent' }],
    format: (value) => value.toFixed(2),
  },
  {
    title: 'Disk',
    measures: [
      { name: 'Used', of: 'fsUsedBytes', color: '--accent' },
      { name: 'There is', of: 'fsTotalBytes', color: '--unknown-fill' },
    ],
    format: formatBytes,
  },
  {
    title: 'Disk traffic',
    measures: [
      { name: 'Read', of: 'diskReadRate', color: '--accent' },
      { name: 'Written', of: 'diskWrittenRate', color: '--ok-fill' },
    ],
    format: formatBytesRate,
  },
  {
    title: 'Network',
    measures: [
      { name: 'Received', of: 'netRxRate', color: '--accent' },
      { name: 'Sent', of: 'netTxRate', color: '--ok-fill' },
    ],
    format: formatBytesRate,
  },
];

const valuesOf = (metrics: Metrics, name: MeasureName): readonly (number | null)[] => {
  const values = metrics[name];
  return Array.isArray(values) ? values : [];
};
const isKnown = (metrics: Metrics, name: MeasureName): boolean =>
  valuesOf(metrics, name).some((value) => value !== null);

function seriesOf({ measures }: Chart, now: Metrics, before: Metrics | null): TimeSeries[] {
  return measures.flatMap(({ name, of, color }) => [
    { name, color, values: valuesOf(now, of) },
    ...(before && color !== '--unknown-fill'
      ? [{ name: `${name} before`, color, values: valuesOf(before, of), dashed: true }]
      : []),
  ]);
}

const HostCharts = ({
  nodeId,
  data,
  minutes,
  compares,
  zoom,
}: {
  nodeId: string;
  data: Metrics;
  minutes: number;
  compares: boolean;
  zoom: (from: number, to: number) => void;
}) => {
  const before = useQuery({ ...metricsQueries.node(nodeId, { minutes, end: data.from }), enabled: compares });
  const earlier = (compares && before.data) || null;
  const times = useMemo(() => timesOf(data), [data]);
  const marks = useMarks(data.marks);
  const charts = useMemo(
    () =>
      CHARTS.filter(({ measures }) => measures.some(({ of }) => isKnown(data, of))).map((chart) => ({
        ...chart,
        series: seriesOf(chart, data, earlier),
      })),
    [data, earlier],
  );
  const events = useMemo(
    () =>
      linesOf(
        [
          { name: 'In', of: 'eventsIn', color: '--accent' },
          { name: 'Out', of: 'eventsOut', color: '--ok-fill' },
          { name: 'Errors', of: 'errors', color: '--failed-fill' },
        ],
        data.pipelines,
        earlier?.pipelines ?? null,
      ),
    [data, earlier],
  );
  if (charts.length === 0)
    return (
      <>
        <NothingReported />
        <MarksList marks={data.marks} />
      </>
    );
  return (
    <>
      <div className="charts">
        {charts.map(({ title, series, format, top }) => (
          <TimeChart
            key={title}
            {...{ title, times, series, format, marks, zoom }}
            binary={format === formatBytes || format === formatBytesRate}
            {...(top === undefined ? {} : { top })}
          />
        ))}
        <TimeChart
          title="Events of its pipelines"
          times={times}
          series={events}
          format={formatRate}
          marks={marks}
          zoom={zoom}
        />
      </div>
      <MarksList marks={data.marks} />
    </>
  );
};
