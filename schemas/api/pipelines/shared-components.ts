/** Components that pipelines of an environment share: linked, versioned, taken over one by one or all at once. */
import Type, { type Static } from 'typebox';
import { GivenName, Id, Input, Nullable, Text, Timestamp } from '../common.ts';
import { ComponentKind, GraphNode } from './graph.ts';

const Config = Type.Record(Type.String({ maxLength: 200 }), Type.Unknown(), { maxProperties: 500 });
const ComponentType = Type.String({ minLength: 1, maxLength: 100 });
const Description = Text(2_000);

export const SharedComponent = Type.Object({
  id: Id,
  environmentId: Id,
  name: Type.String(),
  description: Nullable(Type.String()),
  componentType: Type.String(),
  kind: ComponentKind,
  config: Config,
  /** Grows with every change of the config. */
  version: Type.Integer(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  /** Pipelines with a linked component, and the version that it has accepted. */
  usedBy: Type.Array(
    Type.Object({
      pipelineId: Id,
      pipelineName: Type.String(),
      nodeId: Type.String(),
      componentKey: Type.String(),
      version: Type.Integer(),
    }),
  ),
});
export type SharedComponent = Static<typeof SharedComponent>;
export const SharedComponentList = Type.Array(SharedComponent);
export const DeletedSharedComponent = Type.Object({
  deleted: Type.Literal(true),
  /** Components that keep their config as their own. */
  unlinked: Type.Integer(),
});

/** A component of a pipeline after its link was changed. */
export const LinkedNode = Type.Object({ pipelineId: Id, graphRevision: Type.Integer(), node: GraphNode });
export const AcceptedUpdates = Type.Object({
  pipelineId: Id,
  graphRevision: Type.Integer(),
  /** How many components took over a newer version. */
  accepted: Type.Integer(),
});

export const ListSharedComponents = Input({ environmentId: Id });
export const GetSharedComponent = Input({ id: Id, environmentId: Id });
export const CreateSharedComponent = Input({
  environmentId: Id,
  name: GivenName,
  description: Type.Optional(Description),
  componentType: ComponentType,
  kind: ComponentKind,
  config: Config,
});
const NodeId = Type.String({ minLength: 1, maxLength: 128 });
export const CreateFromNode = Input({
  nodeId: NodeId,
  pipelineId: Id,
  name: GivenName,
  description: Type.Optional(Description),
  environmentId: Id,
});
export const UpdateSharedComponent = Input({
  id: Id,
  environmentId: Id,
  name: Type.Optional(GivenName),
  description: Type.Optional(Nullable(Description)),
  config: Type.Optional(Config),
});
export const DeleteSharedComponent = GetSharedComponent;
export const NodeOfPipeline = Input({ nodeId: NodeId, pipelineId: Id });
export const AcceptUpdateBulk = Input({ pipelineId: Id });
export const LinkExisting = Input({ nodeId: NodeId, pipelineId: Id, sharedComponentId: Id });
