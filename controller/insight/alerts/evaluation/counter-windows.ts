/**
 * Rates of the last minute, from counters that only grow. Per pipeline and node it holds the readings of the last minute in
 * memory; a counter that fell belongs to a new process, whose whole value is growth.
 */

/** What a node has counted of a pipeline up to a moment, in the order of `COUNTERS`. */
export interface CounterReading {
  pipelineId: string;
  nodeId: string;
  /** Milliseconds since 1970. */
  at: number;
  values: readonly number[];
}

export const COUNTERS = ['errors', 'discarded', 'restarts'] as const;
export type Counter = (typeof COUNTERS)[number];

export const WINDOW_MS = 60_000;
/** Readings come some seconds apart. */
const TOLERANCE_MS = 5_000;
/** A shorter time says little of a rate. */
const MIN_WINDOW_MS = 10_000;
/** A window, and one evaluation: they come 15 s apart. */
const FULL_MS = WINDOW_MS + 15_000;
/** Large fleets store their counters once a minute. */
const MAX_AGE_MS = 150_000;

interface Point {
  at: number;
  values: readonly number[];
  /** Growth since the first reading. */
  grown: readonly number[];
}

export interface CounterWindows {
  /** All readings of an environment; nodes and pipelines without one are forgotten. */
  observe(environmentId: string, readings: readonly CounterReading[], now: number): void;
  /** Whether its readings were followed for long enough that a rate that is not known has no readings. */
  isSettled(environmentId: string, now: number): boolean;
  /** Whether its readings were followed for a whole window, so that growth within the last minute is known. */
  isFull(environmentId: string, now: number): boolean;
  /** Growth per second on one node; null while it is not known. */
  rateOnNode(
    environmentId: string,
    pipelineId: string,
    nodeId: string,
    counter: Counter,
    now: number,
  ): number | null;
  forget(environmentId: string): void;
}

/** Points by node, of each pipeline. */
type Points = Map<string, Map<string, Point[]>>;

export function createCounterWindows(): CounterWindows {
  const environments = new Map<string, Points>();
  /** By environment, when the first readings came. */
  const followedSince = new Map<string, number>();
  const followedMs = (environmentId: string, now: number) => now - (followedSince.get(environmentId) ?? now);
  return {
    observe(environmentId, readings, now) {
      if (!followedSince.has(environmentId)) followedSince.set(environmentId, now);
      const before = environments.get(environmentId);
      const next: Points = new Map();
      for (const reading of readings) {
        const { pipelineId, nodeId } = reading;
        const ofPipeline = next.get(pipelineId) ?? new Map<string, Point[]>();
        next.set(pipelineId, ofPipeline);
        ofPipeline.set(nodeId, extended(before?.get(pipelineId)?.get(nodeId) ?? [], reading));
      }
      environments.set(environmentId, next);
    },
    rateOnNode(environmentId, pipelineId, nodeId, counter, now) {
      const points = environments.get(environmentId)?.get(pipelineId)?.get(nodeId);
      return points ? rateOf(points, COUNTERS.indexOf(counter), now) : null;
    },
    isSettled: (environmentId, now) => followedMs(environmentId, now) >= MAX_AGE_MS,
    isFull: (environmentId, now) => followedMs(environmentId, now) >= FULL_MS,
    forget(environmentId) {
      environments.delete(environmentId);
      followedSince.delete(environmentId);
    },
  };
}

function extended(points: Point[], { at, values }: CounterReading): Point[] {
  const last = points.at(-1);
  // The clock of a node that was ahead is right again.
  if (!last || at < last.at - WINDOW_MS) return [{ at, values, grown: values.map(() => 0) }];
  if (at <= last.at) return points;
  const grown = values.map((value, index) => {
    const before = last.values[index] ?? 0;
    return (last.grown[index] ?? 0) + (value >= before ? value - before : value);
  });
  const base = points.findLastIndex((point) => point.at <= at - WINDOW_MS + TOLERANCE_MS);
  return [...points.slice(Math.max(base, 0)), { at, values, grown }];
}

function rateOf(points: readonly Point[], counter: number, now: number): number | null {
  const last = points.at(-1);
  if (!last || now - last.at > MAX_AGE_MS) return null;
  const base = points.findLast((point) => point.at <= last.at - WINDOW_MS + TOLERANCE_MS) ?? points[0];
  if (!base || last.at - base.at < MIN_WINDOW_MS) return null;
  return ((last.grown[counter] ?? 0) - (base.grown[counter] ?? 0)) / ((last.at - base.at) / 1_000);
}
