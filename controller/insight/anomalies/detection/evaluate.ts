/** Whether what a metric is now is unusual, and how much. Pure. */
import type {
  AnomalyDirection as Direction,
  AnomalyMetric as Metric,
  AnomalySeverity as Severity,
} from '../../../../schemas/api/insight/anomalies.ts';
import { type Baseline, type Expected, HOUR_MS } from './baseline.ts';
import { shortTermDeviation } from './robust.ts';

/** Steps of the short-term series: what is called the current value is the mean of one. */
export const STEP_SECONDS = 300;
/** So many of them say how much the metric varies from one to the next. */
export const SHORT_TERM_STEPS = 24;
/** So close below the threshold a deviation is worth a note. */
const INFO_MARGIN = 0.5;
const CRITICAL_MARGIN = 1;
/** A deviation counts when so many steps in a row have it. */
const CONFIRMING_STEPS = 3;
/** One so many times as large as the threshold counts at once. */
const AT_ONCE = 2;

/** Fewer events come by chance: the smallest deviation of a number of events in a step. */
const MIN_EVENTS = 3;
/** Of latencies, in milliseconds. */
const MIN_LATENCY_MS = 0.5;

export interface DetectionOptions {
  sigmaThreshold: number;
  minStddevFloorPercent: number;
  /** Nodes of it are stopped on purpose. */
  ignoresDrops?: boolean;
}

export interface Deviation {
  metric: Metric;
  direction: Direction;
  severity: Severity;
  value: number;
  /** The range in which there would be no deviation. */
  expected: Expected;
  /** Standard deviations beyond what is usual. */
  sigma: number;
}

const DIRECTIONS: Readonly<Record<Metric, readonly Direction[]>> = {
  eventsIn: ['up', 'down'],
  errors: ['up'],
  latency: ['up'],
};

/** `steps` are means of `STEP_SECONDS`, the oldest first; the last one ended at `at`. */
export function evaluate(
  metric: Metric,
  baseline: Baseline,
  steps: readonly (number | null)[],
  at: number,
  options: DetectionOptions,
): Deviation | null {
  const value = steps.at(-1) ?? null;
  if (value === null) return null;
  const { sigmaThreshold } = options;
  const { low, high } = expectedAt(baseline, at);
  const shortTerm = shortTermDeviation(steps);
  const [below, above] = [low, high].map((level) => spreadAt(metric, baseline, level, shortTerm, options));
  const scoreOf = (direction: Direction, one: number | null): number => {
    if (one === null || below === undefined || above === undefined) return 0;
    return Math.max(0, direction === 'up' ? (one - high) / above : (low - one) / below);
  };
  for (const direction of DIRECTIONS[metric]) {
    if (direction === 'down' && options.ignoresDrops) continue;
    const scores = steps.slice(-CONFIRMING_STEPS).map((one) => scoreOf(direction, one));
    const last = scores.at(-1) ?? 0;
    const sigma = last >= AT_ONCE * sigmaThreshold ? last : Math.min(...scores);
    const severity = severityOf(sigma, sigmaThreshold);
    if (!severity) continue;
    const expected = {
      low: Math.max(0, low - sigmaThreshold * (below ?? 0)),
      high: high + sigmaThreshold * (above ?? 0),
    };
    return { metric, direction, severity, value, expected, sigma };
  }
  return null;
}

export function severityOf(sigma: number, threshold: number): Severity | null {
  if (sigma >= threshold + CRITICAL_MARGIN) return 'critical';
  if (sigma >= threshold) return 'warning';
  return sigma >= threshold - INFO_MARGIN ? 'info' : null;
}

/** Between the middles of two hours the expectation is somewhere between theirs. */
export function expectedAt({ hours: [before, now, after] }: Baseline, at: number): Expected {
  const other = (at % HOUR_MS) * 2 < HOUR_MS ? before : after;
  return { low: Math.min(now.low, other.low), high: Math.max(now.high, other.high) };
}

/** Never 0: what seldom happens comes in small numbers, and has no deviation of its own. */
function spreadAt(
  metric: Metric,
  { relativeSpread, spread, quietLevel }: Baseline,
  level: number,
  shortTerm: number,
  { minStddevFloorPercent }: DetectionOptions,
): number {
  const ofHours = relativeSpread === null ? spread : relativeSpread * level;
  const floor = (minStddevFloorPercent / 100) * Math.max(level, quietLevel);
  const smallest =
    metric === 'latency'
      ? MIN_LATENCY_MS
      : Math.sqrt(level * STEP_SECONDS + MIN_EVENTS * MIN_EVENTS) / STEP_SECONDS;
  return Math.max(Math.hypot(ofHours, shortTerm), floor, smallest);
}
