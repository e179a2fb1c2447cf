/** How people order pipelines: groups to file them in, and which depends on which. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Gate, GivenName, Id, Input, Nullable, Text, Timestamp } from '../common.ts';

/** Levels of groups below one another. */
export const MAX_GROUP_LEVELS = 3;

const Color = Type.String({
  pattern: worded('^#[0-9a-fA-F]{6}$', 'must be a colour such as #1d6fb8'),
  maxLength: 7,
});

export const PipelineGroup = Type.Object({
  id: Id,
  environmentId: Id,
  name: Type.String(),
  color: Nullable(Type.String()),
  parentId: Nullable(Id),
  /** 1 at the root. */
  depth: Type.Integer(),
  /** Directly in it. */
  pipelineCount: Type.Integer(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type PipelineGroup = Static<typeof PipelineGroup>;
/** By name; the tree is in `parentId`. */
export const PipelineGroupList = Type.Array(PipelineGroup);

export const ListPipelineGroups = Input({ environmentId: Id });
export const CreatePipelineGroup = Input({
  environmentId: Id,
  name: GivenName,
  color: Type.Optional(Color),
  parentId: Type.Optional(Id),
});
export const UpdatePipelineGroup = Input({
  id: Id,
  name: Type.Optional(GivenName),
  color: Type.Optional(Nullable(Color)),
  /** Null moves it to the root. */
  parentId: Type.Optional(Nullable(Id)),
});
export const PipelineGroupId = Input({ id: Id });
export const DeletedPipelineGroup = Type.Object({
  deleted: Type.Literal(true),
  /** The groups that were in it, under the names that they have at the root. */
  moved: Type.Array(Type.Object({ id: Id, name: Type.String() })),
  /** How many pipelines are in no group now. */
  ungrouped: Type.Integer(),
});

/** `ui`: said by people, and can be removed. `git`: said by the manifest of the pipeline that depends. */
const DependencySource = Type.Enum(['ui', 'git']);

export const Dependency = Type.Object({
  /** Null for one that a manifest says. */
  id: Nullable(Id),
  source: DependencySource,
  /** Null where a manifest names a pipeline that is not there. */
  upstreamId: Nullable(Id),
  upstreamName: Type.String(),
  upstreamIsDraft: Type.Boolean(),
  description: Nullable(Type.String()),
  createdAt: Nullable(Timestamp),
});
export type Dependency = Static<typeof Dependency>;
/** What a pipeline depends on, by name. */
export const DependencyList = Type.Array(Dependency);

export const DependenciesOf = Input({ pipelineId: Id });
export const ListCandidates = Input({ pipelineId: Id, environmentId: Id });
export const OtherPipeline = Type.Object({ id: Id, name: Type.String(), isDraft: Type.Boolean() });
export type OtherPipeline = Static<typeof OtherPipeline>;
export const OtherPipelines = Type.Array(OtherPipeline);

export const AddDependency = Input({
  upstreamId: Id,
  downstreamId: Id,
  description: Type.Optional(Text(2_000)),
});
export const DependencyId = Input({ id: Id });

export const DependencyGraphInput = Input({ environmentId: Id });
export const DependencyGraph = Type.Object({
  nodes: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      isDraft: Type.Boolean(),
      managedBy: Type.Enum(['ui', 'git']),
      gate: Gate,
    }),
  ),
  edges: Type.Array(
    Type.Object({
      /** Null for one that a manifest says. */
      id: Nullable(Id),
      source: DependencySource,
      upstreamId: Id,
      downstreamId: Id,
    }),
  ),
});
export type DependencyGraph = Static<typeof DependencyGraph>;
