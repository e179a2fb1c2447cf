/** Volumes and what they cost. */
import Type, { type Static } from 'typebox';
import { Id, Input, Nullable, Timestamp } from '../common.ts';

export const ANALYTICS_RANGES = ['1h', '6h', '1d', '7d', '30d'] as const;
export const AnalyticsRange = Type.Enum([...ANALYTICS_RANGES]);
export type AnalyticsRange = Static<typeof AnalyticsRange>;

export const AnalyticsInput = Input({ environmentId: Id, range: AnalyticsRange });
export type AnalyticsInput = Static<typeof AnalyticsInput>;

const PERIOD = { from: Timestamp, to: Timestamp };

/** Sums over the period. A gigabyte is 10^9 bytes; money is in the currency of the environment's price. */
const VOLUME = {
  eventsIn: Type.Number(),
  eventsOut: Type.Number(),
  bytesIn: Type.Number(),
  bytesOut: Type.Number(),
  /** What came in and did not go out; 0 where more goes out than comes in. */
  bytesSaved: Type.Number(),
  /** `bytesSaved` of `bytesIn`, 0 to 100; null where nothing came in. */
  reductionPercent: Nullable(Type.Number()),
  /** Of `bytesOut`; null without a price. */
  cost: Nullable(Type.Number()),
  /** Of `bytesSaved`; null without a price. */
  costSaved: Nullable(Type.Number()),
};
export const Volume = Type.Object(VOLUME);
export type Volume = Static<typeof Volume>;

export const CostSummary = Type.Object({
  environmentId: Id,
  ...PERIOD,
  pricePerGb: Nullable(Type.Number()),
  ...VOLUME,
  /** The period of the same length before. */
  previous: Volume,
});
export type CostSummary = Static<typeof CostSummary>;

export const PipelineVolume = Type.Object({
  pipelineId: Id,
  /** Null for a pipeline that was deleted. */
  name: Nullable(Type.String()),
  ...VOLUME,
});
export type PipelineVolume = Static<typeof PipelineVolume>;
/** The pipelines that are returned; the others are in the summary only. */
export const MAX_COST_PIPELINES = 1_000;
export const CostByPipeline = Type.Object({
  ...PERIOD,
  /** Those with the most bytes first; at most 1,000. */
  pipelines: Type.Array(PipelineVolume),
  total: Type.Integer(),
});
export const TopPipelines = Type.Object({
  ...PERIOD,
  pipelines: Type.Array(PipelineVolume, { maxItems: 5 }),
});

export const CostByTeam = Type.Object({
  ...PERIOD,
  teams: Type.Array(
    Type.Object({ teamId: Id, name: Type.String(), environments: Type.Integer(), ...VOLUME }),
  ),
});
export const CostByEnvironment = Type.Object({
  ...PERIOD,
  environments: Type.Array(
    Type.Object({
      environmentId: Id,
      name: Type.String(),
      teamId: Id,
      teamName: Type.String(),
      pricePerGb: Nullable(Type.Number()),
      ...VOLUME,
    }),
  ),
});
export const MAX_COST_SINKS = 1_000;
export const CostBySink = Type.Object({
  ...PERIOD,
  /** What single sinks sent, those with the most bytes first; at most 1,000. */
  sinks: Type.Array(
    Type.Object({
      pipelineId: Id,
      pipelineName: Nullable(Type.String()),
      componentId: Type.String(),
      eventsOut: Type.Number(),
      bytesOut: Type.Number(),
      cost: Nullable(Type.Number()),
    }),
  ),
  total: Type.Integer(),
});

export const CostTimeSeriesInput = Input({
  environmentId: Id,
  range: AnalyticsRange,
  groupBy: Type.Optional(Type.Enum(['pipeline', 'team'])),
});
/** Series of their own; what the others moved is one more, with an empty id. */
export const MAX_COST_SERIES = 10;
export const CostTimeSeries = Type.Object({
  ...PERIOD,
  stepSeconds: Type.Integer(),
  series: Type.Array(
    Type.Object({
      /** Of the pipeline or team; empty for the sum of all, or of the others. */
      id: Type.String(),
      /** Null for a pipeline that was deleted. */
      name: Nullable(Type.String()),
      /** Bytes of each step. */
      bytesIn: Type.Array(Type.Number()),
      bytesOut: Type.Array(Type.Number()),
      cost: Nullable(Type.Array(Type.Number())),
    }),
  ),
});

export const CostCsv = Type.Object({
  filename: Type.String(),
  /** RFC 4180; cells that a spreadsheet would take for formulas begin with an apostrophe. */
  csv: Type.String(),
});
