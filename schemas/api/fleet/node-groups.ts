/** Node groups: named sets of nodes by their labels, with the labels that they give them. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { GitOrigin, GivenName, Id, Input, LabelMap, Nullable, Timestamp } from '../common.ts';
import { NodeSummary } from './fleet.ts';

/** The key of the entry for nodes that belong to no group. */
export const UNGROUPED = '__ungrouped__';

export const NodeGroup = Type.Object({
  id: Id,
  environmentId: Id,
  name: Type.String(),
  /** A node belongs when its own labels (the agent's, overlaid by the UI's) carry every pair. */
  criteria: LabelMap,
  /** Labels that every node of the group is given: over the agent's, under those set in the UI. */
  labelTemplate: LabelMap,
  /** Keys of labels that a node of the group must have in the end. */
  requiredLabels: Type.Array(Type.String()),
  labels: LabelMap,
  nodeCount: Type.Integer(),
  managedBy: Type.Enum(['ui', 'git']),
  /** Null for a group that the UI owns. */
  git: Nullable(GitOrigin),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type NodeGroup = Static<typeof NodeGroup>;
export const NodeGroupList = Type.Array(NodeGroup);

/** A node may belong to several groups and is counted in each. */
export const GroupHealth = Type.Object({
  /** The group's id, or `__ungrouped__`. */
  key: Type.String(),
  name: Type.String(),
  total: Type.Integer(),
  healthy: Type.Integer(),
  degraded: Type.Integer(),
  unreachable: Type.Integer(),
  unknown: Type.Integer(),
  maintenance: Type.Integer(),
  /** Nodes that lack a required label. */
  missingLabels: Type.Integer(),
});
export type GroupHealth = Static<typeof GroupHealth>;
export const GroupHealthStats = Type.Array(GroupHealth);

export const NodeInGroup = Type.Object({
  ...NodeSummary.properties,
  /** Required labels that it lacks. */
  missingLabels: Type.Array(Type.String()),
  /** Labels of the template that something else outranks on this node: one set in the UI, or a group that comes first by name. */
  overriddenLabels: Type.Array(Type.String()),
});
export type NodeInGroup = Static<typeof NodeInGroup>;
export const NodesInGroup = Type.Array(NodeInGroup);

export const OfEnvironmentGroups = Input({ environmentId: Id });
/** `groupId` may be `__ungrouped__`. */
export const ListNodesInGroup = Input({ groupId: Id, environmentId: Id });

/** Keys that a manifest of the same kind may hold too. */
const GroupLabels = Type.Record(
  Type.String({ pattern: worded('^[^\\s\\p{Cc}]{1,128}$', 'must be 1 to 128 characters without blanks') }),
  Type.String({ maxLength: 256 }),
  { maxProperties: 64, additionalProperties: false },
);
const RequiredLabels = Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
  maxItems: 64,
  uniqueItems: true,
});
export const CreateNodeGroup = Input({
  environmentId: Id,
  name: GivenName,
  criteria: GroupLabels,
  labelTemplate: Type.Optional(GroupLabels),
  requiredLabels: Type.Optional(RequiredLabels),
});
export const UpdateNodeGroup = Input({
  id: Id,
  name: Type.Optional(GivenName),
  criteria: Type.Optional(GroupLabels),
  labelTemplate: Type.Optional(GroupLabels),
  requiredLabels: Type.Optional(RequiredLabels),
});
export const NodeGroupId = Input({ id: Id });
