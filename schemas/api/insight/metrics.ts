/** Metrics over time: of pipelines, components, nodes and whole environments. */
import Type, { type Static } from 'typebox';
import { Id, Input, Nullable, Timestamp } from '../common.ts';
import { NodePipelineStatus, Rates } from '../pipelines/on-nodes.ts';

/** One value for each step of the window; null is a gap: nothing was reported. */
export const StepValues = Type.Array(Nullable(Type.Number()));
export type StepValues = Static<typeof StepValues>;

/** Per second. */
export const RateValues = Type.Object({
  eventsIn: StepValues,
  eventsOut: StepValues,
  bytesIn: StepValues,
  bytesOut: StepValues,
  errors: StepValues,
  discarded: StepValues,
});
export type RateValues = Static<typeof RateValues>;

/** Value `i` of each list belongs to the step that begins `i * stepSeconds` after `from`. */
const WINDOW = {
  from: Timestamp,
  to: Timestamp,
  stepSeconds: Type.Integer({ minimum: 60 }),
};

/** Sums over the whole window. */
export const Totals = Type.Object({
  eventsIn: Type.Number(),
  eventsOut: Type.Number(),
  bytesIn: Type.Number(),
  bytesOut: Type.Number(),
  errors: Type.Number(),
  discarded: Type.Number(),
  exits: Type.Number(),
});
export type Totals = Static<typeof Totals>;

export const MARK_KINDS = ['deploy', 'rollout', 'crash', 'alert'] as const;
/** What happened at a moment of the window. */
export const MetricsMark = Type.Object({
  at: Timestamp,
  kind: Type.Enum([...MARK_KINDS]),
  /** A sentence without a full stop. */
  text: Type.String(),
  version: Nullable(Type.Integer()),
  commit: Nullable(Type.String()),
  /** Of an alert: its event. */
  eventId: Nullable(Type.String()),
});
export type MetricsMark = Static<typeof MetricsMark>;

/** Pipelines that a mark of an environment names. */
export const MAX_MARK_PIPELINES = 3;
/** Deployments, or steps of rollouts, of the same step of the window: one mark, however many they are. */
export const EnvironmentMark = Type.Object({
  ...MetricsMark.properties,
  /** How many it stands for; `version` is null where that is more than one, `commit` where they have several. */
  count: Type.Integer({ minimum: 1 }),
  pipelineCount: Type.Integer({ minimum: 1 }),
  /** The first few by name, each with the newest of its versions. */
  pipelines: Type.Array(Type.Object({ id: Id, name: Type.String(), version: Nullable(Type.Integer()) }), {
    maxItems: MAX_MARK_PIPELINES,
  }),
});
export type EnvironmentMark = Static<typeof EnvironmentMark>;

export const MetricsSeries = Type.Object({
  /** Of the pipeline, node or component; empty for the sum of all. */
  id: Type.String(),
  /** Null for what was deleted. */
  name: Nullable(Type.String()),
  /** `source`, `transform` or `sink` of a component. */
  kind: Type.Optional(Type.String()),
  mean: RateValues,
  /** The lowest and the highest minute of each step; absent where only sums by the hour are kept. */
  min: Type.Optional(RateValues),
  max: Type.Optional(RateValues),
  /** Milliseconds, the mean of what was reported. */
  latencyMs: StepValues,
  /** 0 to 1, the highest of the step. */
  utilization: StepValues,
  totals: Totals,
});
export type MetricsSeries = Static<typeof MetricsSeries>;

export const PipelineMetrics = Type.Object({
  pipelineId: Id,
  ...WINDOW,
  series: Type.Array(MetricsSeries),
  marks: Type.Array(MetricsMark),
});
export type PipelineMetrics = Static<typeof PipelineMetrics>;

/** Absent: now. */
const End = Type.Optional(Timestamp);
export const MetricsGrouping = Type.Enum(['component', 'node']);
export const GetPipelineMetrics = Input({
  pipelineId: Id,
  minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_080, default: 60 })),
  end: End,
  /** One series for each component or node, for the last 48 hours; absent is one for the whole pipeline. */
  groupBy: Type.Optional(MetricsGrouping),
});
export type GetPipelineMetrics = Static<typeof GetPipelineMetrics>;

/** 13 months. */
const MAX_HOURS = 9_504;
export const PipelineMetricsByHours = Input({
  pipelineId: Id,
  hours: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_HOURS, default: 24 })),
  end: End,
});

export const GetComponentMetrics = Input({
  pipelineId: Id,
  minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 60, default: 5 })),
});
export const ComponentNow = Type.Object({
  componentId: Type.String(),
  kind: Type.String(),
  /** Per second, over all nodes. */
  receivedRate: Type.Number(),
  sentRate: Type.Number(),
  errors: Type.Number(),
  discarded: Type.Number(),
  /** Milliseconds, the highest of the nodes. */
  latencyMs: Nullable(Type.Number()),
  utilization: Nullable(Type.Number()),
  /** Events that wait in the buffers of a sink, and how full the fullest one is, 0 to 1. */
  bufferEvents: Nullable(Type.Number()),
  bufferFill: Nullable(Type.Number()),
});
export type ComponentNow = Static<typeof ComponentNow>;
export const ComponentMetrics = Type.Object({
  pipelineId: Id,
  ...WINDOW,
  series: Type.Array(MetricsSeries),
  /** As of the last heartbeat of each node. Counters are since the start of each engine. */
  now: Type.Array(ComponentNow),
});

export const GetComponentLatencyHistory = Input({
  pipelineId: Id,
  minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_440, default: 60 })),
});
export const ComponentLatencyHistory = Type.Object({
  pipelineId: Id,
  ...WINDOW,
  components: Type.Array(
    Type.Object({ componentId: Type.String(), kind: Type.String(), latencyMs: StepValues }),
  ),
});

export const GetNodePipelineRates = Input({ nodeId: Id });
export const NodePipelineRates = Type.Object({
  nodeId: Id,
  /** When the node was last heard; null: never. */
  at: Nullable(Timestamp),
  pipelines: Type.Array(
    Type.Object({ pipelineId: Id, name: Type.String(), status: NodePipelineStatus, rates: Rates }),
  ),
});

export const GetLiveRates = Input({ environmentId: Id });
export const LiveRates = Type.Object({
  environmentId: Id,
  at: Timestamp,
  total: Rates,
  pipelines: Type.Array(Type.Object({ pipelineId: Id, rates: Rates, running: Type.Integer() })),
});

export const NodeMetricsInput = Input({
  nodeId: Id,
  hours: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_HOURS, default: 24 })),
  /** In the place of `hours`, for less than one. */
  minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 60 * MAX_HOURS })),
  end: End,
});
export const NodeMetrics = Type.Object({
  nodeId: Id,
  ...WINDOW,
  /** 0 to 100. */
  cpuPercent: StepValues,
  cpuPercentMax: StepValues,
  memoryUsedBytes: StepValues,
  memoryTotalBytes: StepValues,
  loadAvg1: StepValues,
  fsUsedBytes: StepValues,
  fsTotalBytes: StepValues,
  /** Bytes per second. */
  diskReadRate: StepValues,
  diskWrittenRate: StepValues,
  netRxRate: StepValues,
  netTxRate: StepValues,
  /** All pipelines of the node together, for the last 48 hours. */
  pipelines: MetricsSeries,
  /** Alerts about the node. */
  marks: Type.Array(MetricsMark),
});
export type NodeMetrics = Static<typeof NodeMetrics>;

export const CHART_RANGES = ['1h', '6h', '1d', '7d'] as const;
/** Of one answer: more lines than anybody can tell apart. */
export const MAX_CHART_SERIES = 100;
const MAX_FILTER_IDS = 1_000;
/** 30 days. */
const MAX_CHART_MINUTES = 43_200;
/** Of deployments and of steps of rollouts, 50 each. */
const MAX_CHART_MARKS = 100;
export const ChartMetricsInput = Input({
  environmentId: Id,
  nodeIds: Type.Optional(Type.Array(Id, { maxItems: MAX_FILTER_IDS })),
  pipelineIds: Type.Optional(Type.Array(Id, { maxItems: MAX_FILTER_IDS })),
  range: Type.Optional(Type.Enum([...CHART_RANGES])),
  /** In the place of `range`: up to 30 days. */
  minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_CHART_MINUTES })),
  end: End,
  groupBy: Type.Optional(Type.Enum(['pipeline', 'node', 'aggregate'])),
});
export type ChartMetricsInput = Static<typeof ChartMetricsInput>;
export const ChartMetrics = Type.Object({
  environmentId: Id,
  ...WINDOW,
  /** Those with the most bytes first; at most 100. */
  series: Type.Array(MetricsSeries),
  /** How many there are. */
  total: Type.Integer(),
  marks: Type.Array(EnvironmentMark, { maxItems: MAX_CHART_MARKS }),
});
export type ChartMetrics = Static<typeof ChartMetrics>;

export const GetRecentRates = Input({
  environmentId: Id,
  /** Absent: all together. */
  groupBy: Type.Optional(Type.Enum(['pipeline', 'node'])),
});
/** What sparklines draw: events in per second over the last hour, and the errors. */
export const RecentRates = Type.Object({
  environmentId: Id,
  ...WINDOW,
  series: Type.Array(
    Type.Object({
      /** Of the pipeline or node; empty for all together. */
      id: Type.String(),
      eventsIn: StepValues,
      errors: StepValues,
    }),
  ),
});
