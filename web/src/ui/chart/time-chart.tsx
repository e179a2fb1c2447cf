/**
 * Series over time. All charts of a page share one crosshair, dragging selects a time, and null values are gaps. Colours are
 * tokens of the scheme in use.
 */
import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { drawMarks, markAt, openMarks } from './marks.ts';
import type { Mark, TimeSeries } from './time-series.ts';

interface Props {
  title: string;
  /** Milliseconds since the epoch, ascending, in equal steps. */
  times: readonly number[];
  series: readonly TimeSeries[];
  format: (value: number) => string;
  marks?: readonly Mark[];
  /** Called with milliseconds since the epoch when somebody has dragged over a time. */
  zoom?: (from: number, to: number) => void;
  /** The end of the axis, where it is not what the values need. */
  top?: number;
  /** Whether the values are bytes: the axis then has steps of 512 and 1,024. */
  binary?: boolean;
}

const HEIGHT = 168;
const POWERS_OF_TWO = Array.from({ length: 60 }, (_, power) => 2 ** power);
/** The crosshair of all charts with this key moves at once. */
const CROSSHAIR = 'page';

export const TimeChart = ({ title, times, series, format, marks = [], zoom, top, binary = false }: Props) => {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const colorScheme = useComputedColorScheme();
  const [at, setAt] = useState<number | null>(null);
  const latest = useRef({ marks, zoom, format, top, binary });
  latest.current = { marks, zoom, format, top, binary };
  const shape = series.map(({ name, color, low, dashed }) => [name, color, !low, dashed].join(' ')).join();

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
    const lines = series.flatMap((one): { series: uPlot.Series; band: boolean }[] => {
      const stroke = token(one.color);
      const hidden = { stroke: 'transparent', points: { show: false } };
      return [
        {
          band: false,
          series: {
            ...{ stroke, width: 1.5, ...(one.dashed ? { dash: [4, 4] } : {}) },
            // A single value between two gaps has no line.
            points: { show: true, size: 4, fill: stroke, filter: (self, index) => lonely(self.data[index]) },
          },
        },
        ...(one.low && one.high
          ? [
              { band: true, series: hidden },
              { band: false, series: hidden },
            ]
          : []),
      ];
    });
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        cursor: { y: false, sync: { key: CROSSHAIR }, drag: { x: true, y: false, setScale: false } },
        select: { show: true, left: 0, top: 0, width: 0, height: 0 },
        legend: { show: false },
        scales: {
          y: {
            range: (_self, _min, max) => [0, latest.current.top ?? (max ? max * 1.15 : 1)],
          },
        },
        axes: [
          { ...axis, space: 90, size: 28, values: (_self, splits) => timeLabels(splits) },
          {
            ...axis,
            size: 76,
            ...(latest.current.binary ? { incrs: POWERS_OF_TWO } : {}),
            values: (_self, splits) => splits.map((value) => latest.current.format(value)),
          },
        ],
        series: [{}, ...lines.map((line) => line.series)],
        bands: lines.flatMap((line, index) =>
          line.band
            ? [
                {
                  series: [index + 2, index + 1] as [number, number],
                  fill: faint(lines[index - 1]?.series.stroke),
                },
              ]
            : [],
        ),
        hooks: {
          setCursor: [
            (self) => {
              setAt(self.cursor.idx ?? null);
              const mark = markAt(self, latest.current.marks, self.cursor.left ?? -1);
              self.over.classList.toggle('opens-mark', mark !== undefined);
            },
          ],
          draw: [(self) => drawMarks(self, latest.current.marks, token)],
          setSelect: [
            (self) => {
              const { left, width } = self.select;
              if (width < 4) return;
              const [from, to] = [self.posToVal(left, 'x'), self.posToVal(left + width, 'x')];
              self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              // The other charts of the page follow the selection, and have no event of their own.
              if (self.cursor.event) latest.current.zoom?.(from * 1_000, to * 1_000);
            },
          ],
        },
      },
      dataOf(times, series),
      element,
    );
    chart.current = made;
    const stopOpening = openMarks(made, () => latest.current.marks);
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      stopOpening();
      made.destroy();
      chart.current = null;
    };
  }, [colorScheme, shape]);

  useEffect(() => chart.current?.setData(dataOf(times, series)), [times, series]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: they are read while it is drawn.
  useEffect(() => chart.current?.redraw(false), [marks]);

  const index = at ?? lastKnown(series);
  const shown = ({ values }: TimeSeries): string => {
    const value = index === null ? null : values[index];
    return value === null || value === undefined ? '–' : format(value);
  };
  const when = index === null ? undefined : times[index];
  const label = `${title}: ${series.map((one) => `${one.name} ${shown(one)}`).join(', ')}`;
  return (
    <figure className="time-chart">
      <figcaption className="legend">
        <strong>{title}</strong>
        {series.map((one) => (
          <span key={one.name} className={one.dashed ? 'legend-dashed' : undefined}>
            <i style={{ background: `var(${one.color})` }} />
            {one.name} <span className="mono">{shown(one)}</span>
          </span>
        ))}
        <span className="mono muted legend-time">{when === undefined ? '' : exactTime(when)}</span>
      </figcaption>
      <div ref={host} className="chart" role="img" aria-label={label} />
    </figure>
  );
};

function dataOf(times: readonly number[], series: readonly TimeSeries[]): uPlot.AlignedData {
  return [
    times.map((at) => at / 1_000),
    ...series.flatMap(({ values, low, high }) => [
      [...values],
      ...(low && high ? [[...low], [...high]] : []),
    ]),
  ];
}

function lonely(values: ArrayLike<number | null | undefined> | undefined): number[] {
  const found: number[] = [];
  const isKnown = (index: number) => values?.[index] !== null && values?.[index] !== undefined;
  for (let index = 0; index < (values?.length ?? 0); index += 1)
    if (isKnown(index) && !isKnown(index - 1) && !isKnown(index + 1)) found.push(index);
  return found;
}

/** The newest value is what is looked at while nobody points at another. */
function lastKnown(series: readonly TimeSeries[]): number | null {
  const known = series
    .filter(({ dashed }) => !dashed)
    .map(({ values }) => values.findLastIndex((value) => value !== null));
  const last = Math.max(-1, ...known);
  return last === -1 ? null : last;
}

const faint = (stroke: uPlot.Series['stroke']): string =>
  typeof stroke === 'string' && /^#[0-9a-f]{6}$/i.test(stroke) ? `${stroke}22` : 'transparent';

const DAY_S = 86_400;
/** Times of one day by the clock, longer ones by the date. */
function timeLabels(seconds: readonly number[]): string[] {
  const span = (seconds.at(-1) ?? 0) - (seconds[0] ?? 0);
  return seconds.map((at) => {
    const date = new Date(at * 1_000);
    const clock = date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
    if (span < DAY_S) return clock;
    return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  });
}

const exactTime = (at: number): string =>
  new Date(at).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });
