/** One line for each of several components, nodes or pipelines. */
import { useMemo } from 'react';
import type { MetricsSeries } from '../../../../schemas/api/metrics.ts';
import { TimeChart } from '../../ui/chart/time-chart.tsx';
import { formatBytesRate, formatRate } from '../../ui/text/format.ts';
import { COLORS, type Steps, timesOf } from './chart-data.ts';

interface Props {
  steps: Steps;
  series: readonly MetricsSeries[];
  zoom?: (from: number, to: number) => void;
}

export const PartsCharts = ({ steps, series, zoom }: Props) => {
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
      out: of((one) =>
        one.mean.eventsOut.map((value, index) => value || (one.mean.eventsIn[index] ?? value)),
      ),
      bytes: of((one) =>
        one.mean.bytesOut.map((value, index) => value || (one.mean.bytesIn[index] ?? value)),
      ),
      errors: of((one) => one.mean.errors),
    };
  }, [largest]);
  const common = { times, ...(zoom ? { zoom } : {}) };
  return (
    <>
      <div className="charts">
        <TimeChart title="Events" series={lines.out} format={formatRate} {...common} />
        <TimeChart title="Bytes" series={lines.bytes} format={formatBytesRate} binary {...common} />
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
