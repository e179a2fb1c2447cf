/**
 * The agent protocol: what a node agent and the controller say to each other over HTTP.
 * Each schema is plain JSON Schema; the controller validates requests with it, the agent checks answers.
 * Unknown fields are ignored on both sides, so that either may be newer than the other.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { AGENT_LIMITS, ID_PATTERN } from './limits.ts';

const Id = Type.String({ pattern: ID_PATTERN });
const Text = (maxLength: number) => Type.String({ maxLength });
/** A line of print: no control characters, no half surrogate pairs. The database could not keep all of them. */
const PRINTABLE = '^[^\\p{Cc}\\p{Cs}]*$';
/** What the database's integers hold. */
const MAX_INTEGER = 2 ** 31 - 1;
/** Counters are cumulative since the engine's start; what is no finite number ≥ 0 is refused with its entry. */
const Counter = Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Gauge = Type.Number();
export const Port = Type.Integer({ minimum: 1, maximum: 65_535 });
/** Of one pipeline in a heartbeat. */
export const MOST_COMPONENT_METRICS = 1_000;
const Optional = <T extends TSchema>(schema: T) => Type.Optional(schema);

export const Labels = Type.Record(
  Type.String({ maxLength: AGENT_LIMITS.labels.key }),
  Text(AGENT_LIMITS.labels.value),
  {
    maxProperties: AGENT_LIMITS.labels.pairs,
  },
);
export type Labels = Static<typeof Labels>;

/** POST /api/agent/enroll */
export const EnrollRequest = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 512 }),
  hostname: Type.String({ minLength: 1, maxLength: 253, pattern: PRINTABLE }),
  /** `<os>/<architecture>`, for example `linux/x64`. */
  os: Type.String({ maxLength: 64, pattern: PRINTABLE }),
  agentVersion: Text(64),
  /** The version banner of the engine; `vectorVersion` is taken in its place. */
  engineVersion: Optional(Text(256)),
  vectorVersion: Optional(Text(256)),
  labels: Optional(Labels),
  channel: Optional(Type.Union([Type.Literal('stable'), Type.Literal('dev')])),
});
export type EnrollRequest = Static<typeof EnrollRequest>;

export const EnrollResponse = Type.Object({
  nodeId: Id,
  nodeToken: Type.String({ minLength: 1, maxLength: 512 }),
  environmentId: Type.String(),
  environmentName: Type.String(),
});
export type EnrollResponse = Static<typeof EnrollResponse>;

export const CertFile = Type.Object({ name: Type.String(), filename: Type.String(), data: Type.String() });
export type CertFile = Static<typeof CertFile>;

export const PipelineEntry = Type.Object({
  pipelineId: Type.String(),
  pipelineName: Type.String(),
  version: Type.Integer(),
  /** Engine YAML; secrets appear as `${SVC_SECRET_<NAME>}`, never as values. */
  configYaml: Type.String(),
  /** `sha256:<hex>` over the YAML, the secrets, the log level and the certificate files. */
  checksum: Type.String(),
  logLevel: Type.String(),
  secrets: Type.Record(Type.String(), Type.String()),
  certFiles: Type.Array(CertFile),
  /** Seconds that the engine gets to deliver what it holds when it is stopped. Absent: 25. */
  drainSeconds: Optional(Type.Integer({ minimum: 1, maximum: AGENT_LIMITS.drainSeconds })),
});
export type PipelineEntry = Static<typeof PipelineEntry>;

/** A one-shot tap of each component; `POST /api/agent/samples` answers it. Asked again on every poll until it is answered. */
export const SampleRequest = Type.Object({
  requestId: Type.String(),
  pipelineId: Type.String(),
  /** Component ids; `id.port` for a named output. */
  componentKeys: Type.Array(Type.String()),
  /** Events of each component. */
  limit: Type.Integer(),
  /** Those of `componentKeys` that are sinks: they have no output and are tapped at their inputs. */
  sinkKeys: Optional(Type.Array(Type.String())),
});
export type SampleRequest = Static<typeof SampleRequest>;

export const PendingAction = Type.Object({
  type: Type.Literal('self_update'),
  targetVersion: Type.String(),
  downloadUrl: Type.String(),
  /** SHA-256 of the executable: `sha256:<hex>`, or the hex alone. */
  checksum: Type.String(),
  /**
   * Base64 of the Ed25519 signature over the release statement: name, version, os, arch and SHA-256. Asked for by agents
   * that have a key pinned.
   */
  signature: Optional(Type.String()),
});
export type PendingAction = Static<typeof PendingAction>;

/** GET /api/agent/config */
export const ConfigResponse = Type.Object({
  /** Empty in maintenance mode. A pipeline that is absent here is undeployed: the agent stops it. */
  pipelines: Type.Array(PipelineEntry),
  /** Absent: the agent keeps its period. Over 1 h: ignored. */
  pollIntervalMs: Optional(Type.Integer()),
  secretBackend: Type.String(),
  sampleRequests: Type.Array(SampleRequest),
  pendingAction: Type.Union([PendingAction, Type.Null()]),
  /** Grows whenever this node's answer may have changed. */
  configRevision: Optional(Type.Number()),
  pushUrl: Optional(Type.String()),
});
export type ConfigResponse = Static<typeof ConfigResponse>;

export const PIPELINE_STATUSES = ['RUNNING', 'STARTING', 'STOPPED', 'CRASHED'] as const;
export type PipelineProcessStatus = (typeof PIPELINE_STATUSES)[number];

export const ComponentMetric = Type.Object({
  componentId: Text(256),
  componentKind: Type.Enum(['source', 'transform', 'sink']),
  receivedEvents: Counter,
  sentEvents: Counter,
  receivedBytes: Optional(Counter),
  sentBytes: Optional(Counter),
  errorsTotal: Optional(Counter),
  discardedEvents: Optional(Counter),
  /** Left out on purpose, by a filter or `abort`; not part of `discardedEvents`. */
  filteredEvents: Optional(Counter),
  latencyMeanSeconds: Optional(Gauge),
  /** 0 to 1. Sources have none. */
  utilization: Optional(Gauge),
  /** Events that wait in the buffer of a sink, and how full it is, 0 to 1. */
  bufferEvents: Optional(Counter),
  bufferFill: Optional(Gauge),
});
export type ComponentMetric = Static<typeof ComponentMetric>;

/** A version that the node's engine refused to build, while an older one goes on running. */
export const RefusedVersion = Type.Object({
  version: Type.Integer({ minimum: 0, maximum: MAX_INTEGER }),
  /** Of the refused entry, as it was served. */
  checksum: Text(128),
  /** Redacted; what the engine answered. */
  error: Text(4096),
});
export type RefusedVersion = Static<typeof RefusedVersion>;

/** What an engine still held when it was stopped, by the sizes of its buffers. */
export const DrainReport = Type.Object({
  /** The version that was stopped. */
  version: Type.Integer({ minimum: 0, maximum: MAX_INTEGER }),
  /** RFC 3339. */
  endedAt: Text(64),
  /** Events of memory buffers that were not delivered. */
  lostEvents: Counter,
  /** Events of disk buffers; the next engine delivers them. */
  keptEvents: Counter,
  /** Sinks that still held events. */
  sinks: Type.Array(Type.Object({ componentId: Text(256), lostEvents: Counter, keptEvents: Counter }), {
    maxItems: 100,
  }),
});
export type DrainReport = Static<typeof DrainReport>;

export const PipelineReport = Type.Object({
  pipelineId: Id,
  version: Type.Integer({ minimum: 0, maximum: MAX_INTEGER }),
  status: Type.Enum([...PIPELINE_STATUSES]),
  pid: Optional(Type.Union([Type.Integer({ minimum: 0, maximum: MAX_INTEGER }), Type.Null()])),
  uptimeSeconds: Optional(Type.Number({ minimum: 0 })),
  eventsIn: Optional(Counter),
  eventsOut: Optional(Counter),
  bytesIn: Optional(Counter),
  bytesOut: Optional(Counter),
  errorsTotal: Optional(Counter),
  eventsDiscarded: Optional(Counter),
  utilization: Optional(Gauge),
  configChecksum: Optional(Text(128)),
  restarts: Optional(Type.Integer({ minimum: 0, maximum: MAX_INTEGER })),
  /** Where the engine listens on 127.0.0.1; other ports than counted where those were taken. */
  metricsPort: Optional(Port),
  apiPort: Optional(Port),
  /** Redacted by the agent; why the engine ended or could not start. */
  lastError: Optional(Type.Union([Text(4096), Type.Null()])),
  /** It runs, but not all of it: such as a source that has one of its two ports. */
  degraded: Optional(Type.Union([Text(4096), Type.Null()])),
  /** What the engine warned of since it started: deprecated options, components without consumers. */
  warnings: Optional(Type.Array(Text(1_024), { maxItems: 20 })),
  refused: Optional(Type.Union([RefusedVersion, Type.Null()])),
  /** The engine of this version is being stopped and still delivers what it holds. */
  draining: Optional(
    Type.Union([
      Type.Object({
        version: Type.Integer({ minimum: 0, maximum: MAX_INTEGER }),
        /** How long it may still take. */
        secondsLeft: Type.Number({ minimum: 0 }),
        undeliveredEvents: Optional(Counter),
      }),
      Type.Null(),
    ]),
  ),
  /** The last stop that left events undelivered. */
  lastDrain: Optional(Type.Union([DrainReport, Type.Null()])),
  /** Age of the counters, in seconds, where the last scrape failed. Absent: they are fresh. */
  metricsAgeSeconds: Optional(Type.Number({ minimum: 0 })),
  componentMetrics: Optional(Type.Array(ComponentMetric, { maxItems: MOST_COMPONENT_METRICS })),
  recentLogs: Optional(Type.Array(Text(16_384), { maxItems: AGENT_LIMITS.logRingLines })),
});
export type PipelineReport = Static<typeof PipelineReport>;

/** All optional: an agent reports what its platform can tell. Bytes, seconds since boot, load averages. */
export const HOST_METRIC_NAMES = [
  'memoryTotalBytes',
  'memoryUsedBytes',
  'memoryFreeBytes',
  'cpuSecondsTotal',
  'cpuSecondsIdle',
  'loadAvg1',
  'loadAvg5',
  'loadAvg15',
  'fsTotalBytes',
  'fsUsedBytes',
  'fsFreeBytes',
  'diskReadBytes',
  'diskWrittenBytes',
  'netRxBytes',
  'netTxBytes',
] as const;
export type HostMetrics = Partial<Record<(typeof HOST_METRIC_NAMES)[number], number>>;

export const AGENT_HEALTH_NAMES = [
  'pollErrorsTotal',
  'pushReconnectsTotal',
  'heartbeatErrorsTotal',
  'pipelinesRunning',
  'uptimeSeconds',
] as const;
export type AgentHealth = Partial<Record<(typeof AGENT_HEALTH_NAMES)[number], number>> & {
  pushConnected?: boolean;
};

/** What the node's engine has, as its `list` prints it. */
export const EngineComponents = Type.Object({
  sources: Type.Array(Text(100), { maxItems: 500 }),
  transforms: Type.Array(Text(100), { maxItems: 500 }),
  sinks: Type.Array(Text(100), { maxItems: 500 }),
  enrichmentTables: Type.Array(Text(100), { maxItems: 500 }),
});
export type EngineComponents = Static<typeof EngineComponents>;

export const EngineInventory = Type.Object({
  /** `sha256:<hex>` over the sorted names, so that the list is sent once for each engine. */
  componentsDigest: Text(80),
  components: Optional(EngineComponents),
});
export type EngineInventory = Static<typeof EngineInventory>;

/**
 * POST /api/agent/heartbeat. The entries of `pipelines` are checked one by one against `PipelineReport`, so that
 * a bad one is refused alone.
 */
export const HeartbeatRequest = Type.Object({
  /** The engine's component types. The list itself is sent where the controller asks for it. */
  engine: Optional(EngineInventory),
  pipelines: Type.Array(Type.Unsafe<PipelineReport>({}), { maxItems: 2000 }),
  hostMetrics: Optional(
    Type.Unsafe<HostMetrics>({ type: 'object', additionalProperties: Type.Number(), maxProperties: 64 }),
  ),
  agentVersion: Optional(Text(64)),
  /** Absent: as in the heartbeat before. `vectorVersion` is taken in its place. */
  engineVersion: Optional(Type.Union([Text(256), Type.Null()])),
  vectorVersion: Optional(Type.Union([Text(256), Type.Null()])),
  deploymentMode: Optional(Type.Enum(['STANDALONE', 'DOCKER'])),
  labels: Optional(Labels),
  agentHealth: Optional(Type.Unsafe<AgentHealth>({ type: 'object', maxProperties: 64 })),
  /** The user that the agent runs as. */
  runningAs: Optional(Text(128)),
  updateError: Optional(Type.Union([Text(4096), Type.Null()])),
  /** The agent's own poll period in milliseconds, where it is longer than the server's. */
  pollIntervalMs: Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
  /** The lines in `recentLogs` come by /api/agent/logs too: storing them here would store them twice. */
  deliversLogs: Optional(Type.Boolean()),
});
export type HeartbeatRequest = Static<typeof HeartbeatRequest>;

export const HeartbeatResponse = Type.Object({
  ok: Type.Literal(true),
  /** An agent whose own revision differs polls at once, one extra poll a revision. */
  configRevision: Optional(Type.Number()),
  /** The next heartbeat is to carry `engine.components`: no node has sent the list of this digest yet. */
  sendEngineComponents: Optional(Type.Boolean()),
  /**
   * Later heartbeats may leave out, of an entry of `pipelines`, fields that are null and `warnings` and `recentLogs` without any,
   * and of a component metric optional counts of zero: they mean the same.
   */
  mayOmitEmpty: Optional(Type.Boolean()),
  /** Entries that are not stored, each with the field that is wrong. */
  rejected: Optional(Type.Array(Type.Object({ pipelineId: Type.String(), reason: Type.String() }))),
  /** What was left out of entries that are stored, and beside them: `pipelineId` is empty then. */
  warnings: Optional(Type.Array(Type.Object({ pipelineId: Type.String(), reason: Type.String() }))),
});
export type HeartbeatResponse = Static<typeof HeartbeatResponse>;

/** Lines of one pipeline, oldest first. One that is no text is refused alone, a longer one than the limit is cut. */
export const LogEntry = Type.Object({
  pipelineId: Id,
  lines: Type.Array(Type.Unsafe<string>({}), { maxItems: AGENT_LIMITS.logRingLines }),
});
export type LogEntry = Static<typeof LogEntry>;

/**
 * POST /api/agent/logs. The entries are checked one by one against `LogEntry`; what is known is kept when others are
 * not.
 */
export const LogsRequest = Type.Array(Type.Unsafe<LogEntry>({}), { maxItems: 2000 });
export type LogsRequest = Static<typeof LogsRequest>;

/** The lines are stored. `rejected` counts those that are not: of unknown pipelines or in entries without form. */
export const LogsResponse = Type.Object({ ok: Type.Literal(true), rejected: Type.Integer({ minimum: 0 }) });
export type LogsResponse = Static<typeof LogsResponse>;

/** An event as the engine's `tap` prints it, without the wrapper that names its kind. */
export const TappedEvent = Type.Unsafe<unknown>({});

export const EVENT_FIELD_TYPES = [
  'string',
  'integer',
  'float',
  'boolean',
  'timestamp',
  'array',
  'object',
  'null',
  'mixed',
] as const;
export type EventFieldType = (typeof EVENT_FIELD_TYPES)[number];

/** A field that sampled events have. */
export const EventField = Type.Object({
  /** From the event's root: `.kubernetes.labels.app`, quoted where a key is no plain word, `[]` for the items of an array. */
  path: Type.String({ minLength: 1, maxLength: 1_024 }),
  type: Type.Enum([...EVENT_FIELD_TYPES]),
  /** A value that was seen; cut where it is long. */
  sample: Optional(Type.Unsafe<unknown>({})),
});
export type EventField = Static<typeof EventField>;

/** What one component had to show. An `error` says why it had nothing; it may come alone. */
export const SampleResult = Type.Object({
  requestId: Id,
  componentKey: Type.String({ minLength: 1, maxLength: 256 }),
  events: Optional(Type.Array(TappedEvent, { maxItems: AGENT_LIMITS.samples.events })),
  schema: Optional(Type.Array(EventField, { maxItems: 1_000 })),
  error: Optional(Type.Union([Text(1_024), Type.Null()])),
});
export type SampleResult = Static<typeof SampleResult>;

/** POST /api/agent/samples */
export const SamplesRequest = Type.Object({
  results: Type.Array(SampleResult, { maxItems: AGENT_LIMITS.samples.components }),
});
export type SamplesRequest = Static<typeof SamplesRequest>;

/** Events of a live tap, or the news that it has ended on the node. */
export const TapEventsRequest = Type.Union([
  Type.Object({
    requestId: Id,
    pipelineId: Id,
    componentId: Type.String({ minLength: 1, maxLength: 256 }),
    events: Type.Array(TappedEvent, { maxItems: AGENT_LIMITS.tapBatchEvents }),
    /** Events that were left out since the last delivery, since there were more than a second may bring. */
    dropped: Optional(Type.Integer({ minimum: 0, maximum: MAX_INTEGER })),
  }),
  Type.Object({
    requestId: Id,
    pipelineId: Id,
    componentId: Type.String({ minLength: 1, maxLength: 256 }),
    status: Type.Literal('stopped'),
    reason: Text(1_024),
  }),
]);
/** POST /api/agent/tap-events: 403 where no such tap is active for this node, which then ends it. */
export type TapEventsRequest = Static<typeof TapEventsRequest>;

/** GET /api/agent/push: server-sent events, `event: <type>`, `data` this as JSON. */
export type PushMessage =
  | { type: 'config_changed'; pipelineId?: string; reason: string }
  | ({ type: 'sample_request' } & SampleRequest)
  /** `sink`: it is tapped at its inputs. */
  | { type: 'tap_start'; requestId: string; pipelineId: string; componentId: string; sink?: boolean }
  | { type: 'tap_stop'; requestId: string }
  | {
      type: 'action';
      action: 'self_update' | 'restart';
      targetVersion?: string;
      downloadUrl?: string;
      checksum?: string;
      signature?: string;
    }
  | { type: 'poll_interval'; intervalMs: number };

/** Body of every error of the agent endpoints. */
export type AgentError = { error: string; details?: unknown; code?: string };
