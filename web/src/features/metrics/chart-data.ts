/** From answers to what charts draw. */
import type { Anomaly } from '../../../../schemas/api/insight/anomalies.ts';
import type {
  EnvironmentMark,
  MetricsMark,
  MetricsSeries,
  RateValues,
} from '../../../../schemas/api/insight/metrics.ts';
import type { Mark, TimeSeries } from '../../ui/chart/time-series.ts';

export interface Steps {
  from: Date;
  to: Date;
  stepSeconds: number;
}

/** The middle of each step, in milliseconds since the epoch. */
export function timesOf({ from, to, stepSeconds }: Steps): number[] {
  const stepMs = stepSeconds * 1_000;
  const count = Math.round((to.getTime() - from.getTime()) / stepMs);
  return Array.from({ length: count }, (_, index) => from.getTime() + (index + 0.5) * stepMs);
}

export const COLORS = [
  '--accent',
  '--chart-2',
  '--chart-3',
  '--chart-4',
  '--chart-5',
  '--chart-6',
  '--chart-7',
  '--chart-8',
] as const;

export interface Line {
  name: string;
  of: keyof RateValues;
  color: string;
}

/** One line for each measure; of the period before, dashed and in the same places. */
export function linesOf(
  lines: readonly Line[],
  now: MetricsSeries,
  before: MetricsSeries | null,
): TimeSeries[] {
  return [
    ...lines.map(({ name, of, color }) => ({
      ...{ name, color, values: now.mean[of] },
      ...(now.min && now.max ? { low: now.min[of], high: now.max[of] } : {}),
    })),
    ...(before
      ? lines.map(({ name, of, color }) => ({
          ...{ name: `${name} before`, color, values: before.mean[of], dashed: true },
        }))
      : []),
  ];
}

export const MARK_COLORS: Readonly<Record<MetricsMark['kind'], string>> = {
  deploy: '--accent',
  rollout: '--held-fill',
  crash: '--failed-fill',
  alert: '--chart-5',
};

/** Those of an environment name their pipelines. */
export type ChartMark = MetricsMark | EnvironmentMark;
export const pipelinesOf = (mark: ChartMark): EnvironmentMark['pipelines'] =>
  'pipelines' in mark ? mark.pipelines : [];

/** `open`: what a click on it does; undefined for nothing. */
export const marksOf = (
  marks: readonly ChartMark[],
  open: (mark: ChartMark) => (() => void) | undefined,
): Mark[] =>
  marks.map((mark) => {
    const opening = open(mark);
    return {
      ...{ at: mark.at.getTime(), color: MARK_COLORS[mark.kind], dashed: mark.kind === 'rollout' },
      ...(opening ? { open: opening } : {}),
    };
  });

const ANOMALY_COLORS: Readonly<Record<Anomaly['severity'], string>> = {
  info: '--unknown-fill',
  warning: '--held-fill',
  critical: '--failed-fill',
};

/** Anomalies of a metric that people have not dismissed, as shades from their beginning to their end, or until now. */
export const shadesOf = (anomalies: readonly Anomaly[], metric: Anomaly['metric'], now: number): Mark[] =>
  anomalies
    .filter((anomaly) => anomaly.metric === metric && anomaly.status !== 'dismissed')
    .map(({ startedAt, endedAt, severity }) => ({
      ...{ at: startedAt.getTime(), to: endedAt?.getTime() ?? now },
      ...{ color: ANOMALY_COLORS[severity], dashed: true },
    }));

/** Whether anything was reported. */
export const isEmpty = (series: readonly MetricsSeries[]): boolean =>
  series.every(
    ({ mean }) =>
      mean.eventsIn.every((value) => value === null) && mean.eventsOut.every((value) => value === null),
  );
