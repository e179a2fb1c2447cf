/** The graph of a pipeline, as the editor saves it, and the engine config that it comes to. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Id, Input, Text } from '../common.ts';
import { ConfigYaml, ValidationError, ValidationLevel } from './validation.ts';

export const COMPONENT_KEY_PATTERN = worded(
  '^[a-zA-Z_][a-zA-Z0-9_]*$',
  'must begin with a letter or _ and have only letters, digits and _',
);

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

/** Other top-level sections of the engine config. */
export const GlobalConfig = Type.Record(Type.String({ maxLength: 100 }), Type.Unknown());

const GraphNodes = Type.Array(GraphNode, { maxItems: MAX_GRAPH_NODES });
const GraphEdges = Type.Array(GraphEdge, { maxItems: MAX_GRAPH_EDGES });

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
