/** Pipelines: what is listed, made, changed and promoted. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Gate, GitOrigin, Id, Input, LabelMap, LogLevelName, Nullable, Text, Timestamp } from '../common.ts';
import { GlobalConfig, GraphEdge, GraphNode } from './graph.ts';
import { ComponentThroughput, PipelineOnNode, Rates, StatusCounts } from './on-nodes.ts';
import { DrainSeconds, VersionSummary } from './versions.ts';

export const PIPELINE_NAME_PATTERN = worded(
  '^[a-zA-Z0-9][a-zA-Z0-9 _-]*$',
  'must begin with a letter or digit and have only letters, digits, blanks, _ and -',
);

export const PipelineName = Type.String({ minLength: 1, maxLength: 100, pattern: PIPELINE_NAME_PATTERN });

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
const Description = Text(2_000);

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
