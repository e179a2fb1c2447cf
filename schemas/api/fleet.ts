/** Nodes. */
import Type, { type Static } from 'typebox';
import { Gate, Id, Input, LabelMap, Nullable, Timestamp } from './common.ts';
import { NodeHealth, NodePipelineStatus, PipelineOnNode } from './pipelines.ts';

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
  deploymentMode: Nullable(Type.Enum(['STANDALONE', 'DOCKER'])),
  maintenance: Type.Boolean(),
  /** Effective: the agent's, overlaid by those set in the UI. */
  labels: LabelMap,
  lastHeartbeatAt: Nullable(Timestamp),
  enrolledAt: Nullable(Timestamp),
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

export const FleetNode = Type.Object({
  ...NodeSummary.properties,
  pipelines: Type.Array(PipelineOnNode),
  environment: Type.Object({ id: Id, name: Type.String(), teamId: Id }),
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

export const ListNodes = Input({ environmentId: Id });
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
