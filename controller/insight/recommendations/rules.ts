/** What is recommended about a pipeline, by what was measured. Pure. docs/metrics.md describes the rules. */
import type {
  RecommendationFigures,
  RecommendationType,
  RecommendedChange,
} from '../../../schemas/api/insight/cost-recommendations.ts';
import { limitBefore, sampleBefore } from './change.ts';
import { canSample, type Drawn, findSink, findUnboundedTags } from './metric-flow.ts';

export const WINDOW_HOURS = 168;
const HOURS_PER_MONTH = 720;

/** LOW_REDUCTION: bytes out of bytes in, from how many bytes in the window on, and in how many different hours at least. */
const LOW_REDUCTION_SHARE = 0.9;
const LOW_REDUCTION_MIN_BYTES = 1e9;
const LOW_REDUCTION_MIN_HOURS = 24;
/** One event of so many passes. */
export const SAMPLE_RATE = 10;

/** HIGH_ERROR_RATE, over 24 hours: a burst of an hour is an incident, not a cost. */
const ERROR_SHARE = 0.05;
const ERROR_MIN_EVENTS = 1_000;
const ERROR_MIN_HOURS = 12;
const ERROR_REPORTED_HOURS = 20;

/** STALE_PIPELINE: nodes reported the pipeline in nine of ten hours of the window, and no event. */
const STALE_REPORTED_HOURS = Math.floor(WINDOW_HOURS * 0.9);

/** Sums since the later of the window's begin and the last deploy. */
export interface Measured {
  /** How long that is. */
  hours: number;
  eventsIn: number;
  eventsOut: number;
  bytesIn: number;
  bytesOut: number;
  errors: number;
  /** Different hours in which nodes reported the pipeline, and in which events came in. */
  hoursReported: number;
  hoursWithEvents: number;
}

export interface PipelineFacts {
  pipelineId: string;
  /** Milliseconds since 1970; null where it is not known. */
  deployedAt: number | null;
  graph: Drawn;
  week: Measured;
  day: Measured;
  /** Those that sent the most first. */
  sinks: readonly { componentId: string; bytesOut: number }[];
  /** Whether a node that should run it is in maintenance. */
  isInMaintenance: boolean;
}

export interface Finding {
  type: RecommendationType;
  figures: RecommendationFigures;
  savedBytesPerMonth: number | null;
  change: RecommendedChange | null;
}

export function findSavings(facts: PipelineFacts, now: number): Finding[] {
  return [
    lowReduction(facts),
    highErrorRate(facts),
    stalePipeline(facts, now),
    highCardinality(facts),
  ].filter((finding) => finding !== null);
}

const figuresOf = (measured: Measured, more: Partial<RecommendationFigures> = {}): RecommendationFigures => ({
  hours: measured.hours,
  eventsIn: measured.eventsIn,
  bytesIn: measured.bytesIn,
  bytesOut: measured.bytesOut,
  errors: measured.errors,
  ...{ sink: null, sinkBytes: 0, fields: [], ...more },
});

function lowReduction({ week, sinks, graph }: PipelineFacts): Finding | null {
  const { bytesIn, bytesOut, hoursWithEvents, hours } = week;
  if (bytesOut < LOW_REDUCTION_MIN_BYTES || hoursWithEvents < LOW_REDUCTION_MIN_HOURS) return null;
  if (bytesIn <= 0 || bytesOut / bytesIn < LOW_REDUCTION_SHARE) return null;
  // A sink that was renamed or removed since has no place in the graph.
  const largest = sinks.find(({ componentId, bytesOut }) => bytesOut > 0 && findSink(graph, componentId));
  const sink = largest && findSink(graph, largest.componentId);
  const isSampled = sink !== undefined && canSample(graph, sink);
  return {
    type: 'LOW_REDUCTION',
    figures: figuresOf(week, {
      sink: largest?.componentId ?? null,
      sinkBytes: largest?.bytesOut ?? 0,
    }),
    savedBytesPerMonth:
      largest && isSampled ? perMonth(largest.bytesOut, hours) * (1 - 1 / SAMPLE_RATE) : null,
    change: sink && isSampled ? sampleBefore(graph, sink, SAMPLE_RATE) : null,
  };
}

function highErrorRate({ day }: PipelineFacts): Finding | null {
  const { eventsIn, errors, bytesIn, hours, hoursReported, hoursWithEvents } = day;
  if (hoursReported < ERROR_REPORTED_HOURS || hoursWithEvents < ERROR_MIN_HOURS) return null;
  if (eventsIn < ERROR_MIN_EVENTS || errors / eventsIn < ERROR_SHARE) return null;
  return {
    type: 'HIGH_ERROR_RATE',
    figures: figuresOf(day),
    // One event may count several errors.
    savedBytesPerMonth: perMonth(bytesIn, hours) * Math.min(1, errors / eventsIn),
    change: null,
  };
}

function stalePipeline({ week, deployedAt, isInMaintenance }: PipelineFacts, now: number): Finding | null {
  if (isInMaintenance || week.eventsIn > 0 || week.eventsOut > 0) return null;
  if (deployedAt === null || now - deployedAt < WINDOW_HOURS * 3_600_000) return null;
  if (week.hoursReported < STALE_REPORTED_HOURS) return null;
  return {
    type: 'STALE_PIPELINE',
    figures: figuresOf(week),
    savedBytesPerMonth: 0,
    change: { action: 'undeploy' },
  };
}

function highCardinality({ week, graph }: PipelineFacts): Finding | null {
  if (week.eventsIn <= 0) return null;
  const found = findUnboundedTags(graph);
  if (!found) return null;
  const { sink, fields } = found;
  return {
    type: 'HIGH_CARDINALITY',
    figures: figuresOf(week, { sink: sink.componentKey, fields }),
    savedBytesPerMonth: null,
    change: limitBefore(graph, sink),
  };
}

const perMonth = (bytes: number, hours: number): number => (bytes / Math.max(1, hours)) * HOURS_PER_MONTH;
