/** Nodes. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Deleted, Gate, Id, Input, Label, LabelMap, Nullable, Text, Timestamp } from '../common.ts';
import { NodeHealth, NodePipelineStatus, PipelineOnNode } from '../pipelines/on-nodes.ts';

export const HostSummary = Type.Object({
  memoryTotalBytes: Type.Optional(Type.Number()),
  memoryUsedBytes: Type.Optional(Type.Number()),
  memoryFreeBytes: Type.Optional(Type.Number()),
  cpuSecondsTotal: Type.Optional(Type.Number()),
  cpuSecondsIdle: Type.Optional(Type.Number()),
  /** The busy share of all processors between the last two reports. */
  cpuPercent: Type.Optional(Type.Number()),
  loadAvg1: Type.Optional(Type.Number()),
  loadAvg5: Type.Optional(Type.Number()),
  loadAvg15: Type.Optional(Type.Number()),
  fsTotalBytes: Type.Optional(Type.Number()),
  fsUsedBytes: Type.Optional(Type.Number()),
  fsFreeBytes: Type.Optional(Type.Number()),
  diskReadBytes: Type.Optional(Type.Number()),
  diskWrittenBytes: Type.Optional(Type.Number()),
  netRxBytes: Type.Optional(Type.Number()),
  netTxBytes: Type.Optional(Type.Number()),
});

export const NodeSummary = Type.Object({
  id: Id,
  environmentId: Id,
  name: Type.String(),
  host: Type.String(),
  os: Nullable(Type.String()),
  /** Computed when read: see `NodeHealth`. */
  status: NodeHealth,
  /** Why the status is not HEALTHY; empty when it is. */
  statusReason: Type.String(),
  agentVersion: Nullable(Type.String()),
  engineVersion: Nullable(Type.String()),
  /** Why its engine is not supported: older than the oldest version that is. Null where nothing is wrong. */
  engineProblem: Nullable(Type.String()),
  deploymentMode: Nullable(Type.Enum(['STANDALONE', 'DOCKER'])),
  /** Its token was taken back: it is heard no more until it enrolls again. */
  revoked: Type.Boolean(),
  /** The line of agents that it follows. */
  channel: Type.Enum(['stable', 'dev']),
  /** What its agent is being brought to; null where nothing is under way. */
  updateTo: Nullable(Type.String()),
  maintenance: Type.Boolean(),
  /** Effective: the agent's, overlaid by those set in the UI. */
  labels: LabelMap,
  /** Its own, by which it belongs to groups; absent where they are the same as `labels`. */
  ownLabels: Type.Optional(LabelMap),
  /** The groups that it belongs to, by their names. */
  groupIds: Type.Array(Id),
  lastHeartbeatAt: Nullable(Timestamp),
  enrolledAt: Nullable(Timestamp),
  /** Since when it is archived for its silence; null for one that is not. It comes back with its agent's next call. */
  archivedAt: Nullable(Timestamp),
  /** How far what git wants has come on this node. */
  gate: Gate,
  /** Of the pipelines that it should run. */
  pipelinesDesired: Type.Integer(),
  pipelinesRunning: Type.Integer(),
  pipelinesCrashed: Type.Integer(),
});
export type NodeSummary = Static<typeof NodeSummary>;
export const NodeList = Type.Array(NodeSummary);

/** A cell of the matrix of nodes and pipelines. */
export const PipelineCell = Type.Object({
  pipelineId: Id,
  pipelineName: Type.String(),
  status: NodePipelineStatus,
  /** What the node reports to run; null before its first report. */
  version: Nullable(Type.Integer()),
  /** What it should run. */
  desiredVersion: Nullable(Type.Integer()),
});
export const NodeWithPipelines = Type.Object({
  ...NodeSummary.properties,
  pipelines: Type.Array(PipelineCell),
});
export type NodeWithPipelines = Static<typeof NodeWithPipelines>;
export const NodeListWithPipelines = Type.Array(NodeWithPipelines);

/** An update of the agent that the node has not carried out yet. */
export const PendingUpdate = Type.Object({
  targetVersion: Type.String(),
  downloadUrl: Type.String(),
  checksum: Type.String(),
  requestedAt: Timestamp,
  /** It is given up then. */
  expiresAt: Timestamp,
  /** How often the agent has begun it without an outcome; the third is the last. */
  tries: Type.Integer(),
});
export type PendingUpdate = Static<typeof PendingUpdate>;
/** An update that failed here, newest first; the same file is not offered to the node again. */
export const FailedUpdate = Type.Object({
  targetVersion: Type.String(),
  checksum: Type.String(),
  reason: Type.String(),
  at: Timestamp,
});
export type FailedUpdate = Static<typeof FailedUpdate>;

export const FleetNode = Type.Object({
  ...NodeSummary.properties,
  /** Where its agent's own port is, as somebody wrote it down by hand. */
  apiPort: Nullable(Type.Integer()),
  pendingUpdate: Nullable(PendingUpdate),
  failedUpdates: Type.Array(FailedUpdate),
  /** What the agent itself says went wrong with its last update. */
  updateError: Nullable(Type.String()),
  pipelines: Type.Array(PipelineOnNode),
  environment: Type.Object({ id: Id, name: Type.String(), teamId: Id }),
  /** How many component types its engine has; null where its agent has not reported them. */
  engineComponentTypes: Nullable(Type.Integer()),
  agentLabels: LabelMap,
  uiLabels: LabelMap,
  /** Where each effective label comes from. */
  labelSources: Type.Record(Type.String(), Type.Enum(['agent', 'group', 'ui'])),
  /** The groups that it belongs to, by name. */
  groups: Type.Array(Type.Object({ id: Id, name: Type.String() })),
  hostMetrics: HostSummary,
  agentHealth: Type.Object({
    pollErrorsTotal: Type.Optional(Type.Number()),
    pushReconnectsTotal: Type.Optional(Type.Number()),
    heartbeatErrorsTotal: Type.Optional(Type.Number()),
    pushConnected: Type.Optional(Type.Boolean()),
    pipelinesRunning: Type.Optional(Type.Number()),
    uptimeSeconds: Type.Optional(Type.Number()),
  }),
  /** The user that the agent runs as. */
  runningAs: Nullable(Type.String()),
});
export type FleetNode = Static<typeof FleetNode>;

/** With `includeArchived` those that are archived follow the others. */
export const ListNodes = Input({ environmentId: Id, includeArchived: Type.Optional(Type.Boolean()) });
export const ListNodesWithPipelines = Input({ environmentId: Id });
export const GetNode = Input({ id: Id });
export const SetMaintenance = Input({ nodeId: Id, enabled: Type.Boolean() });
export const MaintainedNode = Type.Object({
  id: Id,
  environmentId: Id,
  name: Type.String(),
  /** While it is on, the node is served no pipelines. */
  maintenance: Type.Boolean(),
});
export type MaintainedNode = Static<typeof MaintainedNode>;

export const NodeName = Label(253);
/** Labels that are set here win over those that the agent reports. */
const NodeLabelName = Type.Record(
  Type.String({
    pattern: worded('^[^\\s=,\\p{Cc}][^=,\\p{Cc}]{0,127}$', 'must be 1 to 128 characters without = and ,'),
  }),
  Text(256),
  { maxProperties: 64, additionalProperties: false },
);
export const CreateNode = Input({
  name: NodeName,
  /** The host name under which the agent will enroll: the first that does takes this node over. */
  host: Type.String({
    minLength: 1,
    maxLength: 253,
    pattern: worded(
      '^[^\\s\\u0000-\\u001f\\u007f-\\u009f]+$',
      'must be a host name or an address, without blanks',
    ),
  }),
  apiPort: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  environmentId: Id,
});
export const UpdateNode = Input({
  id: Id,
  name: Type.Optional(NodeName),
  /** All labels that are set here, in place of those before. */
  labels: Type.Optional(NodeLabelName),
});
export const NodeId = Input({ id: Id });
export const DeletedNode = Type.Object({ ...Deleted.properties, id: Id, name: Type.String() });
export const RevokedNode = Type.Object({ id: Id, name: Type.String(), revoked: Type.Literal(true) });
/** A version: `v1.2.3` (also without the v, with a suffix) or `dev-<short hash>`. */
export const AgentVersion = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: worded(
    '^(v?[0-9]+\\.[0-9]+\\.[0-9]+([-+][0-9A-Za-z.-]+)?|dev-[0-9a-f]{4,40})$',
    'must be a version such as 1.4.0, or dev- and a commit',
  ),
});
export const TriggerAgentUpdate = Input({
  nodeId: Id,
  targetVersion: AgentVersion,
  downloadUrl: Type.String({ minLength: 1, maxLength: 2_048 }),
  /** SHA-256 of the file: `sha256:<hex>`, or the hex alone. */
  checksum: Type.String({
    pattern: worded('^(sha256:)?[0-9a-fA-F]{64}$', 'must be a SHA-256 in hexadecimal, 64 digits'),
  }),
  /** Base64 of an Ed25519 signature over name, version, os, arch and SHA-256 of the file, for agents with a pinned key. */
  signature: Type.Optional(
    Type.String({
      pattern: worded('^[A-Za-z0-9+/]{86}==$', 'must be an Ed25519 signature in base64, 88 characters'),
    }),
  ),
});
export const TriggeredUpdate = Type.Object({ nodeId: Id, pendingUpdate: PendingUpdate });
export type TriggeredUpdate = Static<typeof TriggeredUpdate>;
export const OfNode = Input({ nodeId: Id });
export const CancelledUpdate = Type.Object({
  nodeId: Id,
  cancelled: Type.Literal(true),
  targetVersion: Type.String(),
});
/** The request was sent to the agent; its uptime shows whether it restarted. */
export const RestartedAgent = Type.Object({ nodeId: Id, requested: Type.Literal(true) });
