/** The charts of a pipeline, or of all pipelines of a node or an environment. */
import { useMemo } from 'react';
import type { Anomaly } from '../../../../schemas/api/insight/anomalies.ts';
import type { MetricsSeries } from '../../../../schemas/api/insight/metrics.ts';
import { TimeChart } from '../../ui/chart/time-chart.tsx';
import { formatBytesRate, formatLatency, formatPercent, formatRate } from '../../ui/text/format.ts';
import { type ChartMark, type Line, linesOf, type Steps, shadesOf, timesOf } from './chart-data.ts';
import { useMarks } from './use-marks.ts';

interface Props {
  steps: Steps;
  now: MetricsSeries;
  /** Of the period before. */
  before: MetricsSeries | null;
  marks?: readonly ChartMark[];
  /** Shaded in the chart of their metric. */
  anomalies?: readonly Anomaly[] | undefined;
  zoom?: (from: number, to: number) => void;
}

const EVENTS: readonly Line[] = [
  { name: 'In', of: 'eventsIn', color: '--accent' },
  { name: 'Out', of: 'eventsOut', color: '--ok-fill' },
];
const BYTES: readonly Line[] = [
  { name: 'In', of: 'bytesIn', color: '--accent' },
  { name: 'Out', of: 'bytesOut', color: '--ok-fill' },
];
const LOSSES: readonly Line[] = [
  { name: 'Errors', of: 'errors', color: '--failed-fill' },
  { name: 'Discarded', of: 'discarded', color: '--held-fill' },
];
const NO_MARKS: readonly ChartMark[] = [];
const NO_ANOMALIES: readonly Anomaly[] = [];

const milliseconds = (value: number): string => formatLatency(value / 1_000);

export const MetricCharts = ({
  steps,
  now,
  before,
  marks = NO_MARKS,
  anomalies = NO_ANOMALIES,
  zoom,
}: Props) => {
  const times = useMemo(() => timesOf(steps), [steps]);
  const lines = useMarks(marks);
  const shades = useMemo(() => {
    const end = steps.to.getTime();
    return {
      events: [...shadesOf(anomalies, 'eventsIn', end), ...lines],
      losses: [...shadesOf(anomalies, 'errors', end), ...lines],
      latency: [...shadesOf(anomalies, 'latency', end), ...lines],
    };
  }, [anomalies, lines, steps]);
  const series = useMemo(
    () => ({
      events: linesOf(EVENTS, now, before),
      bytes: linesOf(BYTES, now, before),
      losses: linesOf(LOSSES, now, before),
      latency: [
        { name: 'Mean', color: '--accent', values: now.latencyMs },
        ...(before
          ? [{ name: 'Mean before', color: '--accent', values: before.latencyMs, dashed: true }]
          : []),
      ],
      utilization: [
        { name: 'Busiest component', color: '--accent', values: now.utilization },
        ...(before
          ? [{ name: 'Busiest before', color: '--accent', values: before.utilization, dashed: true }]
          : []),
      ],
    }),
    [now, before],
  );
  const common = { times, marks: lines, ...(zoom ? { zoom } : {}) };
  return (
    <div className="charts">
      <TimeChart
        title="Events"
        series={series.events}
        format={formatRate}
        {...common}
        marks={shades.events}
      />
      <TimeChart title="Bytes" series={series.bytes} format={formatBytesRate} binary {...common} />
      <TimeChart
        title="Errors and discarded events"
        series={series.losses}
        format={formatRate}
        {...common}
        marks={shades.losses}
      />
      <TimeChart
        title="Latency"
        series={series.latency}
        format={milliseconds}
        {...common}
        marks={shades.latency}
      />
      <TimeChart title="Utilization" series={series.utilization} format={formatPercent} top={1} {...common} />
    </div>
  );
};
