/** Templates: graphs that a team keeps to begin pipelines with. */
import Type, { type Static } from 'typebox';
import { GivenName, Id, Input, Label, Nullable, Text, Timestamp } from '../common.ts';
import { GraphEdge, GraphNode, MAX_GRAPH_EDGES, MAX_GRAPH_NODES } from './graph.ts';

export const TemplateSummary = Type.Object({
  id: Id,
  teamId: Id,
  name: Type.String(),
  description: Type.String(),
  category: Type.String(),
  componentCount: Type.Integer(),
  /** Each once, sorted. */
  componentTypes: Type.Array(Type.String()),
  /** Null where the user is gone. */
  createdByName: Nullable(Type.String()),
  createdAt: Timestamp,
});
export type TemplateSummary = Static<typeof TemplateSummary>;
/** By category and name. */
export const TemplateList = Type.Array(TemplateSummary);

export const Template = Type.Object({
  ...TemplateSummary.properties,
  nodes: Type.Array(GraphNode),
  edges: Type.Array(GraphEdge),
});
export type Template = Static<typeof Template>;

export const ListTemplates = Input({ teamId: Id });
export const CreateTemplate = Input({
  name: GivenName,
  description: Text(2_000),
  category: Label(50),
  teamId: Id,
  nodes: Type.Array(GraphNode, { maxItems: MAX_GRAPH_NODES }),
  edges: Type.Array(GraphEdge, { maxItems: MAX_GRAPH_EDGES }),
});
export const CreatedTemplate = Type.Object({
  ...Template.properties,
  /** JSON pointers of credentials that were written out, and that the template is without: `/out/auth/password`. */
  strippedFields: Type.Array(Type.String()),
});
export const TemplateId = Input({ id: Id });
