/** Pipelines, their graph and versions, and what each node runs of them. */
import Type, { type Static } from 'typebox';
import { AGENT_LIMITS } from '../agent/limits.ts';
import { worded } from '../patterns.ts';
import {
  Gate,
  GitOrigin,
  Id,
  Input,
  Label,
  LabelMap,
  LogLevelName,
  Nullable,
  Text,
  Timestamp,
} from './common.ts';

export const PIPELINE_NAME_PATTERN = worded(
  '^[a-zA-Z0-9][a-zA-Z0-9 _-]*$',
  'must begin with a letter or digit and have only letters, digits, blanks, _ and -',
);
export const COMPONENT_KEY_PATTERN = worded(
  '^[a-zA-Z_][a-zA-Z0-9_]*$',
  'must begin with a letter or _ and have only letters, digits and _',
);
export const PipelineName = Type.String({ minLength: 1, maxLength: 100, pattern: PIPELINE_NAME_PATTERN });
export const ComponentKey = Type.String({ minLength: 1, maxLength: 128, pattern: COMPONENT_KEY_PATTERN });
export const ComponentKind = Type.Enum(['SOURCE', 'TRANSFORM', 'SINK']);

export const MAX_GRAPH_NODES = 500;
export const MAX_GRAPH_EDGES = 5_000;

/** Pixels of the editor. */
const Coordinate = Type.Number({ minimum: -1_000_000, maximum: 1_000_000 });
export const GraphNode = Input({
  id: Type.Optional(Id),
  componentKey: ComponentKey,
  displayName: Type.Optional(Text(200)),
  componentType: Type.String({ minLength: 1, maxLength: 100 }),
  kind: ComponentKind,
  config: Type.Record(Type.String(), Type.Unknown()),
  positionX: Coordinate,
  positionY: Coordinate,
  /** Leaves the component out of the generated config. */
  disabled: Type.Boolean(),
  /** The shared component that it is linked to; its config is then that one's at the accepted version. */
  sharedComponentId: Type.Optional(Id),
  sharedComponentVersion: Type.Optional(Type.Integer({ minimum: 1 })),
});
export type GraphNode = Static<typeof GraphNode>;

/** Either end may be given by the id or by the component key of its node. */
export const GraphEdge = Input({
  id: Type.Optional(Type.String({ minLength: 1, maxLength: 400 })),
  sourceNodeId: Type.String({ minLength: 1, maxLength: 128 }),
  targetNodeId: Type.String({ minLength: 1, maxLength: 128 }),
  /** The named output of the source, absent for its only one. */
  sourcePort: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
});
export type GraphEdge = Static<typeof GraphEdge>;

const DrainSeconds = Type.Integer({ minimum: 1, maximum: AGENT_LIMITS.drainSeconds });

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

export const VersionSummary = Type.Object({
  id: Id,
  pipelineId: Id,
  version: Type.Integer(),
  changelog: Nullable(Type.String()),
  /** Where it came from: a user, git, or a service account by REST. */
  source: Type.Enum(['ui', 'git', 'api']),
  /** The user or the service account; null for git, and where a user is gone. */
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
  drainSeconds: Nullable(DrainSeconds),
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

/** Other top-level sections of the engine config. */
const GlobalConfig = Type.Record(Type.String({ maxLength: 100 }), Type.Unknown());

export const PipelineSummary = Type.Object({
  id: Id,
  environmentId: Id,
  name: Type.String(),
  description: Nullable(Type.String()),
  isDraft: Type.Boolean(),
  managedBy: Type.Enum(['ui', 'git']),
  groupId: Nullable(Id),
  deployedAt: Nullable(Timestamp),
  deployedVersionNumber: Nullable(Type.Integer()),
  latestVersionNumber: Nullable(Type.Integer()),
  /** Nodes that carry every pair run it; null is every node. */
  nodeSelector: Nullable(LabelMap),
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
  /** Null: 25. */
  drainSeconds: Nullable(DrainSeconds),
  nodes: Type.Array(GraphNode),
  edges: Type.Array(GraphEdge),
  globalConfig: GlobalConfig,
  /** Grows with every change of the graph. */
  graphRevision: Type.Integer(),
  labels: LabelMap,
  /** Whether a version that does not run on a node is taken back there; null: as the environment has it. */
  autoRevert: Nullable(Type.Boolean()),
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
/** `hold`: also where git describes it. It stays undeployed, whatever the spec that git has now says; a newer one is taken. */
export const UndeployPipeline = Input({
  pipelineId: Id,
  hold: Type.Optional(Type.Boolean()),
  reason: Type.Optional(Label(500)),
});
/** Without `nodeId` on all nodes. */
export const RetryVersion = Input({ pipelineId: Id, nodeId: Type.Optional(Id) });
export const Retried = Type.Object({
  success: Type.Literal(true),
  /** How many are served the version again; 0 where none was taken back. */
  nodes: Type.Integer(),
});
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
  level: Type.Optional(Type.String()),
  /** JSON pointer into the definition, `/transforms/parse/source`; line and column count inside that text. */
  path: Type.Optional(Type.String()),
});
export type ValidationError = Static<typeof ValidationError>;

/** What was checked: structure, references, secrets, options, vrl, engine, in this order. */
export const ValidationLevel = Type.Object({
  level: Type.String(),
  status: Type.Enum(['passed', 'failed', 'skipped']),
  detail: Type.String(),
});

/** deploy.preview: what a deploy would ship, and what changes against what is deployed. */
export const DeployPreview = Type.Object({
  configYaml: Type.String(),
  deployedYaml: Nullable(Type.String()),
  hasChanges: Type.Boolean(),
  /** Unified diff, empty when nothing changes. */
  diff: Type.String(),
  valid: Type.Boolean(),
  validationErrors: Type.Array(ValidationError),
  levels: Type.Array(ValidationLevel),
  /** What the engine would ignore, or may refuse on some nodes: nothing is refused for it. */
  warnings: Type.Array(ValidationError),
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

const Description = Text(2_000);
const Changelog = Text(2_000);
const ConfigYaml = Type.String({ minLength: 1, maxLength: 1_048_576 });
const GraphNodes = Type.Array(GraphNode, { maxItems: MAX_GRAPH_NODES });
const GraphEdges = Type.Array(GraphEdge, { maxItems: MAX_GRAPH_EDGES });

export const CreatePipeline = Input({
  name: PipelineName,
  description: Type.Optional(Description),
  environmentId: Id,
});
export const UpdatePipeline = Input({
  id: Id,
  name: Type.Optional(PipelineName),
  description: Type.Optional(Nullable(Description)),
  /** Null: every node. What is deployed keeps the one that it was deployed with. */
  nodeSelector: Type.Optional(Nullable(LabelMap)),
  logLevel: Type.Optional(LogLevelName),
  /** Seconds that an engine gets to deliver what it holds when it is stopped; null: 25. */
  drainSeconds: Type.Optional(Nullable(DrainSeconds)),
  /** Null: as the environment has it. */
  autoRevert: Type.Optional(Nullable(Type.Boolean())),
  labels: Type.Optional(LabelMap),
  /** Null takes it out of its group. */
  groupId: Type.Optional(Nullable(Id)),
});
export const DeletePipeline = Input({ id: Id });
export const PromotePipeline = Input({
  pipelineId: Id,
  targetEnvironmentId: Id,
  name: Type.Optional(PipelineName),
});
/** A pipeline that was made or changed. */
export const PipelineRef = Type.Object({
  id: Id,
  name: Type.String(),
  environmentId: Id,
  /** What is made by hand belongs to the UI, also where git describes others. */
  managedBy: Type.Enum(['ui', 'git']),
  isDraft: Type.Boolean(),
  graphRevision: Type.Integer(),
});
export type PipelineRef = Static<typeof PipelineRef>;
export const PromotedPipeline = Type.Object({
  ...PipelineRef.properties,
  /** JSON pointers of credentials that were written out, and that the copy is without. */
  strippedFields: Type.Array(Type.String()),
  /** Variables that the copy refers to and that the target environment lacks. */
  missingSecrets: Type.Array(Type.String()),
});
export const DeletedPipeline = Type.Object({ deleted: Type.Literal(true) });

export const SaveGraph = Input({
  pipelineId: Id,
  nodes: GraphNodes,
  edges: GraphEdges,
  /** Absent leaves it as it is. */
  globalConfig: Type.Optional(GlobalConfig),
  /** The one that the changes were made on; CONFLICT where somebody has saved since. */
  graphRevision: Type.Optional(Type.Integer({ minimum: 1 })),
});
export const SavedGraph = Type.Object({
  pipelineId: Id,
  graphRevision: Type.Integer(),
  nodes: Type.Array(GraphNode),
  edges: Type.Array(GraphEdge),
  globalConfig: GlobalConfig,
  hasConfigChanges: Type.Boolean(),
});

/** pipeline.renderGraph: what a graph that is not saved yet comes to. */
export const RenderGraph = Input({
  pipelineId: Id,
  nodes: GraphNodes,
  edges: GraphEdges,
  globalConfig: Type.Optional(GlobalConfig),
});
export const RenderedGraph = Type.Object({
  configYaml: Type.String(),
  valid: Type.Boolean(),
  validationErrors: Type.Array(ValidationError),
  levels: Type.Array(ValidationLevel),
  /** What the engine would ignore, or may refuse on some nodes: nothing is refused for it. */
  warnings: Type.Array(ValidationError),
});
/** pipeline.readYaml: the graph that an engine config describes, with the editor data that the pipeline has. */
export const ReadYaml = Input({
  pipelineId: Id,
  configYaml: ConfigYaml,
  /** The graph that it is read on top of; absent, the one that is saved. */
  graph: Type.Optional(Input({ nodes: GraphNodes, edges: GraphEdges })),
});
export const ReadGraph = Type.Object({
  nodes: Type.Array(GraphNode),
  edges: Type.Array(GraphEdge),
  globalConfig: GlobalConfig,
});

export const CreateVersion = Input({
  pipelineId: Id,
  configYaml: ConfigYaml,
  changelog: Type.Optional(Changelog),
});
/** The engine config of what is saved, whole: nothing is blanked. */
export const PipelineConfig = Type.Object({
  pipelineId: Id,
  configYaml: Type.String(),
  /** Grows with every change of the graph. */
  graphRevision: Type.Integer(),
  /** Whether a deploy would ship something else than what runs. */
  hasConfigChanges: Type.Boolean(),
});
export const SaveConfig = Input({ pipelineId: Id, configYaml: ConfigYaml });
export const RollbackPipeline = Input({ pipelineId: Id, targetVersionId: Id });
export const CompareVersions = Input({ fromVersionId: Id, toVersionId: Id });
export const VersionDiff = Type.Object({
  from: Type.Object({ id: Id, version: Type.Integer(), configYaml: Type.String() }),
  to: Type.Object({ id: Id, version: Type.Integer(), configYaml: Type.String() }),
  /** Unified diff, empty where the configs are equal. */
  diff: Type.String(),
  /** What else differs: the log level, the node selector. */
  settings: Type.Array(Type.Object({ name: Type.String(), from: Type.String(), to: Type.String() })),
});

export const DeployPipeline = Input({
  pipelineId: Id,
  changelog: Changelog,
  /** Ends a rollout that is under way: every node gets this version. */
  supersede: Type.Optional(Type.Boolean()),
});
export const Deployed = Type.Object({
  success: Type.Boolean(),
  versionId: Id,
  versionNumber: Type.Integer(),
});
export type Deployed = Static<typeof Deployed>;
export const Undeployed = Type.Object({ success: Type.Boolean() });

export const DEPLOYMENT_STATES = [
  /** On its way to the nodes, or waiting for nodes that do not answer. */
  'IN_PROGRESS',
  /** It runs on every node that should run it. */
  'SUCCEEDED',
  /** It does not run on a node. */
  'FAILED',
  /** Another version is deployed. */
  'SUPERSEDED',
  'UNDEPLOYED',
] as const;
export const DeploymentState = Type.Enum([...DEPLOYMENT_STATES]);
/** One version on its way to the nodes. */
export const Deployment = Type.Object({
  /** That of the version. */
  id: Id,
  pipelineId: Id,
  versionNumber: Type.Integer(),
  /** The one that is deployed now. */
  deployedVersionNumber: Nullable(Type.Integer()),
  state: DeploymentState,
  /** A sentence for people: why it stands where it stands. */
  reason: Type.String(),
  /** Over the nodes that should run the pipeline. */
  nodeCounts: StatusCounts,
});
export type Deployment = Static<typeof Deployment>;
export const DeploymentId = Input({ versionId: Id });

/** validator.validate: an engine config by itself. */
export const ValidateConfig = Input({
  yaml: ConfigYaml,
  /** Its secrets count as known. Without one every SVC_SECRET_ variable is taken for granted. */
  environmentId: Type.Optional(Id),
});
export const ConfigValidity = Type.Object({
  valid: Type.Boolean(),
  errors: Type.Array(ValidationError),
  /** What the engine would ignore, or may refuse on some nodes: nothing is refused for it. */
  warnings: Type.Array(ValidationError),
  levels: Type.Array(ValidationLevel),
  /** What only the checker at hand does not know. */
  unknown: Type.Array(Type.String()),
});
