/**
 * One line for each of several components, nodes or pipelines. Of a source or transform, what it sends; of all others, what
 * they take in. Of a sink, the bytes that it sends, since those it takes in are not counted.
 */
import { useMemo } from 'react';
import type { MetricsSeries } from '../../../../schemas/api/insight/metrics.ts';
import { TimeChart } from '../../ui/chart/time-chart.tsx';
import { formatBytesRate, formatRate } from '../../ui/text/format.ts';
import { type ChartMark, COLORS, type Steps, timesOf } from './chart-data.ts';
import { useMarks } from './use-marks.ts';

interface Props {
  steps: Steps;
  series: readonly MetricsSeries[];
  marks?: readonly ChartMark[];
  zoom?: (from: number, to: number) => void;
}

const NO_MARKS: readonly ChartMark[] = [];

export const PartsCharts = ({ steps, series, marks = NO_MARKS, zoom }: Props) => {
  const times = useMemo(() => timesOf(steps), [steps]);
  const largest = useMemo(() => series.slice(0, COLORS.length), [series]);
  const lines = useMemo(() => {
    const of = (values: (one: MetricsSeries) => readonly (number | null)[]) =>
      largest.map((one, index) => ({
        name: one.name ?? 'deleted',
        color: COLORS[index] ?? '--accent',
        values: values(one),
      }));
    return {
      events: of(({ kind, mean }) =>
        kind === 'source' || kind === 'transform' ? mean.eventsOut : mean.eventsIn,
      ),
      bytes: of(({ kind, mean }) => (kind === 'sink' ? mean.bytesOut : mean.bytesIn)),
      errors: of(({ mean }) => mean.errors),
    };
  }, [largest]);
  const isOfComponents = series.some(({ kind }) => kind !== undefined);
  const common = { times, marks: useMarks(marks), ...(zoom ? { zoom } : {}) };
  return (
    <>
      <div className="charts">
        <TimeChart
          title={isOfComponents ? 'Events' : 'Events in'}
          series={lines.events}
          format={formatRate}
          {...common}
        />
        <TimeChart
          title={isOfComponents ? 'Bytes' : 'Bytes in'}
          series={lines.bytes}
          format={formatBytesRate}
          binary
          {...common}
        />
        <TimeChart title="Errors" series={lines.errors} format={formatRate} {...common} />
      </div>
      {series.length > largest.length && (
        <p className="muted chart-note">
          The {largest.length} with the most of {series.length}.
        </p>
      )}
    </>
  );
};
