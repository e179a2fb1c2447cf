/** Versions on their way to the nodes, and taken back from them. */
import Type, { type Static } from 'typebox';
import { Gate, Id, Input, Label, Nullable } from '../common.ts';
import { NodeHealth, PipelineOnNode, StatusCounts } from './on-nodes.ts';
import { ValidationError, ValidationLevel } from './validation.ts';
import { Changelog } from './versions.ts';

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

export const DeploymentStatus = Type.Object({
  pipelineId: Id,
  isDraft: Type.Boolean(),
  deployedVersionNumber: Nullable(Type.Integer()),
  gate: Gate,
  counts: StatusCounts,
  nodes: Type.Array(PipelineOnNode),
});
export type DeploymentStatus = Static<typeof DeploymentStatus>;

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
