/** A chart of series over time. The lines take their colours from the tokens of the scheme in use. */
import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';

export interface Series {
  name: string;
  /** A token, for example `--accent`. */
  color: string;
  values: readonly number[];
}

interface Props {
  label: string;
  /** Milliseconds since the epoch, ascending. */
  times: readonly number[];
  series: readonly Series[];
  format: (value: number) => string;
}

const HEIGHT = 152;

const clock = (seconds: number): string => new Date(seconds * 1000).toLocaleTimeString('en-GB');

export const SeriesChart = ({ label, times, series, format }: Props) => {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const colorScheme = useComputedColorScheme();
  const shape = series.map(({ name, color }) => `${name} ${color}`).join();

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new scheme or other series need a new chart; new points do not.
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const style = getComputedStyle(document.documentElement);
    const token = (name: string): string => style.getPropertyValue(name).trim();
    const axis = {
      stroke: token('--text-3'),
      grid: { stroke: token('--border'), width: 1 },
      ticks: { show: false },
      font: '12px system-ui',
    };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        cursor: { y: false },
        legend: { show: false },
        scales: {
          x: { range: atLeastAMinute },
          y: { range: (_self, _min, max) => [0, Math.max(max * 1.15, 1)] },
        },
        axes: [
          { ...axis, space: 90, values: (_self, splits) => splits.map(clock) },
          { ...axis, size: 76, values: (_self, splits) => splits.map(format) },
        ],
        series: [
          {},
          ...series.map(({ name, color }) => ({
            label: name,
            stroke: token(color),
            width: 1.5,
            points: { show: false },
          })),
        ],
      },
      dataOf(times, series),
      element,
    );
    chart.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [colorScheme, shape]);

  useEffect(() => chart.current?.setData(dataOf(times, series)), [times, series]);
  return <div ref={host} className="chart" role="img" aria-label={label} />;
};

const MIN_SPAN_S = 60;

/** Two points a second apart would else fill the whole width. Seconds since the epoch. */
function atLeastAMinute(_self: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax {
  const end = max ?? Date.now() / 1000;
  return [Math.min(min ?? end, end - MIN_SPAN_S), end];
}

/** One point alone has no extent, and uPlot would draw years around it: the minute before is left empty then. */
function dataOf(times: readonly number[], series: readonly Series[]): uPlot.AlignedData {
  const seconds = times.map((at) => at / 1000);
  if (seconds.length > 1) return [seconds, ...series.map(({ values }) => [...values])];
  const end = seconds[0] ?? Date.now() / 1000;
  return [[end - MIN_SPAN_S, end], ...series.map(({ values }) => [null, values[0] ?? null])];
}
