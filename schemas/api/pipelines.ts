/** Pipelines, their graph and versions, and what each node runs of them. */
import Type, { type Static } from 'typebox';
import { Gate, GitOrigin, Id, Input, LabelMap, LogLevelName, Nullable, Text, Timestamp } from './common.ts';

export const PIPELINE_NAME_PATTERN = '^[a-zA-Z0-9][a-zA-Z0-9 _-]*$';
export const COMPONENT_KEY_PATTERN = '^[a-zA-Z_][a-zA-Z0-9_]*$';
export const PipelineName = Type.String({ minLength: 1, maxLength: 100, pattern: PIPELINE_NAME_PATTERN });
export const ComponentKey = Type.String({ minLength: 1, maxLength: 128, pattern: COMPONENT_KEY_PATTERN });
export const ComponentKind = Type.Enum(['SOURCE', 'TRANSFORM', 'SINK']);

export const GraphNode = Type.Object({
  id: Type.Optional(Id),
  componentKey: ComponentKey,
  displayName: Type.Optional(Text(200)),
  componentType: Type.String({ minLength: 1, maxLength: 100 }),
  kind: ComponentKind,
  config: Type.Record(Type.String(), Type.Unknown()),
  positionX: Type.Number(),
  positionY: Type.Number(),
  /** Leaves the component out of the generated config. */
  disabled: Type.Boolean(),
});
export type GraphNode = Static<typeof GraphNode>;

export const GraphEdge = Type.Object({
  id: Type.Optional(Id),
  sourceNodeId: Type.String(),
  targetNodeId: Type.String(),
  /** The named output of the source, absent for its only one. */
  sourcePort: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
});
export type GraphEdge = Static<typeof GraphEdge>;

export const NODE_PIPELINE_STATUSES = ['PENDING', 'STARTING', 'RUNNING', 'STOPPED', 'CRASHED'] as const;
export const NodePipelineStatus = Type.Enum([...NODE_PIPELINE_STATUSES]);
export type NodePipelineStatus = Static<typeof NodePipelineStatus>;
export const NodeHealth = Type.Enum(['HEALTHY', 'DEGRADED', 'UNREACHABLE', 'UNKNOWN']);
export type NodeHealth = Static<typeof NodeHealth>;

/** Per second, from the last two reports; 0 where there are none. */
export const Rates = Type.Object({
  eventsIn: Type.Number(),
  eventsOut: Type.Number(),
  bytesIn: Type.Number(),
  bytesOut: Type.Number(),
  errors: Type.Number(),
});
export type Rates = Static<typeof Rates>;

export const ComponentThroughput = Type.Object({
  componentKey: Type.String(),
  kind: Type.String(),
  receivedEvents: Type.Number(),
  sentEvents: Type.Number(),
  errors: Type.Number(),
  /** Events a second. */
  receivedRate: Type.Number(),
  sentRate: Type.Number(),
});
export type ComponentThroughput = Static<typeof ComponentThroughput>;

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
  lastError: Nullable(Type.String()),
  reportedAt: Nullable(Timestamp),
  eventsIn: Type.Number(),
  eventsOut: Type.Number(),
  bytesIn: Type.Number(),
  bytesOut: Type.Number(),
  errorsTotal: Type.Number(),
  rates: Rates,
});
export type PipelineOnNode = Static<typeof PipelineOnNode>;

export const VersionSummary = Type.Object({
  id: Id,
  pipelineId: Id,
  version: Type.Integer(),
  changelog: Nullable(Type.String()),
  /** Where it came from. */
  source: Type.Enum(['ui', 'git']),
  createdById: Nullable(Type.String()),
  createdByName: Nullable(Type.String()),
  createdAt: Timestamp,
  commit: Nullable(Type.String()),
  commitAuthor: Nullable(Type.String()),
  commitMessage: Nullable(Type.String()),
  path: Nullable(Type.String()),
  isDeployed: Type.Boolean(),
});
export type VersionSummary = Static<typeof VersionSummary>;
export const VersionList = Type.Array(VersionSummary);
export const Version = Type.Object({
  ...VersionSummary.properties,
  configYaml: Type.String(),
  logLevel: LogLevelName,
  nodeSelector: Nullable(LabelMap),
});
export type Version = Static<typeof Version>;

const StatusCounts = Type.Object({
  total: Type.Integer(),
  pending: Type.Integer(),
  starting: Type.Integer(),
  running: Type.Integer(),
  stopped: Type.Integer(),
  crashed: Type.Integer(),
});
export type StatusCounts = Static<typeof StatusCounts>;

export const PipelineSummary = Type.Object({
  id: Id,
  environmentId: Id,
  name: Type.String(),
  description: Nullable(Type.String()),
  isDraft: Type.Boolean(),
  managedBy: Type.Enum(['ui', 'git']),
  deployedAt: Nullable(Timestamp),
  deployedVersionNumber: Nullable(Type.Integer()),
  latestVersionNumber: Nullable(Type.Integer()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  gate: Gate,
  /** Over the nodes that should run it. */
  nodeCounts: StatusCounts,
  rates: Rates,
  commit: Nullable(Type.String()),
  commitMessage: Nullable(Type.String()),
  commitAuthor: Nullable(Type.String()),
});
export type PipelineSummary = Static<typeof PipelineSummary>;
export const PipelineList = Type.Array(PipelineSummary);

export const Pipeline = Type.Object({
  ...PipelineSummary.properties,
  uid: Nullable(Type.String()),
  environment: Type.Object({ id: Id, name: Type.String(), teamId: Id }),
  nodeSelector: Nullable(LabelMap),
  logLevel: LogLevelName,
  nodes: Type.Array(GraphNode),
  edges: Type.Array(GraphEdge),
  globalConfig: Type.Record(Type.String(), Type.Unknown()),
  labels: LabelMap,
  latestVersion: Nullable(VersionSummary),
  hasConfigChanges: Type.Boolean(),
  /** Null for a pipeline that the UI owns. */
  git: Nullable(GitOrigin),
  statuses: Type.Array(PipelineOnNode),
  components: Type.Array(ComponentThroughput),
});
export type Pipeline = Static<typeof Pipeline>;

export const ListPipelines = Input({ environmentId: Id });
export const GetPipeline = Input({ id: Id });
export const OfPipeline = Input({ pipelineId: Id });
export const GetVersion = Input({ versionId: Id });

export const DeploymentStatus = Type.Object({
  pipelineId: Id,
  isDraft: Type.Boolean(),
  deployedVersionNumber: Nullable(Type.Integer()),
  gate: Gate,
  counts: StatusCounts,
  nodes: Type.Array(PipelineOnNode),
});
export type DeploymentStatus = Static<typeof DeploymentStatus>;

export const ValidationError = Type.Object({
  message: Type.String(),
  componentKey: Type.Optional(Type.String()),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
});
export type ValidationError = Static<typeof ValidationError>;

/** deploy.preview: what a deploy would ship, and what changes against what is deployed. */
export const DeployPreview = Type.Object({
  configYaml: Type.String(),
  deployedYaml: Nullable(Type.String()),
  hasChanges: Type.Boolean(),
  /** Unified diff, empty when nothing changes. */
  diff: Type.String(),
  valid: Type.Boolean(),
  validationErrors: Type.Array(ValidationError),
  /** What was checked, in order: structure, references, secrets, vrl, engine. */
  levels: Type.Array(
    Type.Object({
      level: Type.String(),
      status: Type.Enum(['passed', 'failed', 'skipped']),
      detail: Type.String(),
    }),
  ),
  nextVersion: Type.Integer(),
});
export type DeployPreview = Static<typeof DeployPreview>;

/** deploy.environmentInfo: where a deploy of this pipeline would go. */
export const DeployEnvironmentInfo = Type.Object({
  environmentId: Id,
  environmentName: Type.String(),
  teamId: Id,
  requireApproval: Type.Boolean(),
  nodeCount: Type.Integer(),
  matchingNodes: Type.Array(Type.Object({ id: Id, name: Type.String(), health: NodeHealth })),
  managedBy: Type.Enum(['ui', 'git']),
});
export type DeployEnvironmentInfo = Static<typeof DeployEnvironmentInfo>;
