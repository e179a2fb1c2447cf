/** What each node runs of a pipeline, and what flows through it. */
import Type, { type Static } from 'typebox';
import { Id, Nullable, Timestamp } from '../common.ts';

/** An engine that is being stopped and still delivers what it holds. */
export const Draining = Type.Object({
  version: Type.Integer(),
  secondsLeft: Type.Number(),
  /** Null where it did not tell. */
  undeliveredEvents: Nullable(Type.Number()),
});
export type Draining = Static<typeof Draining>;

/** What the last engine that was stopped left undelivered, by the last answer of its metrics. */
export const LastDrain = Type.Object({
  version: Type.Integer(),
  endedAt: Timestamp,
  /** At most so many; they were in memory. */
  lostEvents: Type.Number(),
  /** On disk; the next engine delivers them. */
  keptEvents: Type.Number(),
  sinks: Type.Array(
    Type.Object({ componentId: Type.String(), lostEvents: Type.Number(), keptEvents: Type.Number() }),
  ),
});
export type LastDrain = Static<typeof LastDrain>;

export const NODE_PIPELINE_STATUSES = ['PENDING', 'STARTING', 'RUNNING', 'STOPPED', 'CRASHED'] as const;
export const NodePipelineStatus = Type.Enum([...NODE_PIPELINE_STATUSES]);
export type NodePipelineStatus = Static<typeof NodePipelineStatus>;

export const NodeHealth = Type.Enum(['HEALTHY', 'DEGRADED', 'UNREACHABLE', 'UNKNOWN']);
export type NodeHealth = Static<typeof NodeHealth>;

/** Per second, from the last two readings of the engines; 0 where there are none. */
export const Rates = Type.Object({
  eventsIn: Type.Number(),
  eventsOut: Type.Number(),
  bytesIn: Type.Number(),
  bytesOut: Type.Number(),
  errors: Type.Number(),
  /** Of the oldest reading among them, where not all engines could be read just now; null while all are fresh. */
  asOf: Nullable(Timestamp),
});
export type Rates = Static<typeof Rates>;

export const ComponentThroughput = Type.Object({
  componentKey: Type.String(),
  kind: Type.String(),
  receivedEvents: Type.Number(),
  sentEvents: Type.Number(),
  errors: Type.Number(),
  /** Lost, by an error or by full buffers. */
  discardedEvents: Type.Number(),
  /** Left out on purpose, by a filter or `abort`: neither errors nor losses. */
  filteredEvents: Type.Number(),
  /** Events a second. */
  receivedRate: Type.Number(),
  sentRate: Type.Number(),
  /** Mean time that an event spends in it, on the slowest node; null where no engine reports it. */
  latencyMeanSeconds: Nullable(Type.Number()),
  /** Share of the time that it is at work, 0 to 1, on the busiest node; null where no engine reports it. */
  utilization: Nullable(Type.Number()),
  /** Events that wait in the buffers of a sink, and how full the fullest one is, 0 to 1; null where no engine reports them. */
  bufferEvents: Nullable(Type.Number()),
  bufferFill: Nullable(Type.Number()),
});
export type ComponentThroughput = Static<typeof ComponentThroughput>;

/** A version that does not run on a node: its engine refused to build it, or it crashed again and again. */
export const Refusal = Type.Object({
  version: Type.Integer(),
  /** The version before, which the node is served in its place; null where it is not. */
  servedVersion: Nullable(Type.Integer()),
  /** NODE_CHECK: the node's engine, before it was started. CRASH: the controller, after its second start had failed. */
  by: Type.Enum(['NODE_CHECK', 'CRASH']),
  reason: Type.String(),
  /** `sink out`, where the reason names one. */
  component: Nullable(Type.String()),
  option: Nullable(Type.String()),
  /** Of the manifest. */
  place: Nullable(Type.Object({ path: Type.String(), line: Type.Integer() })),
  /** Why the version before cannot be served. */
  fault: Nullable(Type.String()),
  /** Since when the version before is served. */
  since: Nullable(Timestamp),
});
export type Refusal = Static<typeof Refusal>;

/** One pipeline on one node. */
export const PipelineOnNode = Type.Object({
  nodeId: Id,
  nodeName: Type.String(),
  nodeHealth: NodeHealth,
  maintenance: Type.Boolean(),
  pipelineId: Id,
  pipelineName: Type.String(),
  status: NodePipelineStatus,
  /** What the node reports to run; null before its first report. */
  version: Nullable(Type.Integer()),
  /** What it should run. */
  desiredVersion: Nullable(Type.Integer()),
  pid: Nullable(Type.Integer()),
  uptimeSeconds: Nullable(Type.Number()),
  restarts: Type.Integer(),
  /** Where the engine listens on 127.0.0.1 of the node; null where the agent does not report it. */
  metricsPort: Nullable(Type.Integer()),
  apiPort: Nullable(Type.Integer()),
  lastError: Nullable(Type.String()),
  /** What does not run of an engine that runs. */
  degraded: Nullable(Type.String()),
  /** Of the engine, since it was started. */
  warnings: Type.Array(Type.String()),
  draining: Nullable(Draining),
  lastDrain: Nullable(LastDrain),
  /** Null where nothing is known against the version that is meant for the node. */
  refused: Nullable(Refusal),
  reportedAt: Nullable(Timestamp),
  eventsIn: Type.Number(),
  eventsOut: Type.Number(),
  bytesIn: Type.Number(),
  bytesOut: Type.Number(),
  errorsTotal: Type.Number(),
  rates: Rates,
});
export type PipelineOnNode = Static<typeof PipelineOnNode>;

export const StatusCounts = Type.Object({
  total: Type.Integer(),
  pending: Type.Integer(),
  starting: Type.Integer(),
  running: Type.Integer(),
  stopped: Type.Integer(),
  crashed: Type.Integer(),
});
export type StatusCounts = Static<typeof StatusCounts>;
