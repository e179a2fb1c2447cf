/** The graph as the editor holds it: every component has an id, and edges name both ends by id. */
import type {
  GraphEdge,
  GraphNode,
  COMPONENT_KEY_PATTERN as KeyPattern,
  MAX_GRAPH_EDGES as MaxEdges,
  MAX_GRAPH_NODES as MaxNodes,
} from '../../../../../schemas/api/pipelines/graph.ts';

export const COMPONENT_KEY_PATTERN: typeof KeyPattern = '^[a-zA-Z_][a-zA-Z0-9_]*$';
export const MAX_GRAPH_NODES: typeof MaxNodes = 500;
export const MAX_GRAPH_EDGES: typeof MaxEdges = 5_000;
export const MAX_KEY_LENGTH = 128;

export type ComponentKind = GraphNode['kind'];
export type Config = GraphNode['config'];
export type EditorNode = GraphNode & { id: string };
export type EditorEdge = Omit<GraphEdge, 'id'>;

export interface EditorGraph {
  nodes: readonly EditorNode[];
  edges: readonly EditorEdge[];
  globalConfig: Config;
}

/** What the server sends and takes; ends of edges may be ids or component keys. */
export interface SentGraph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  globalConfig: Config;
}

/** Edges that lead nowhere are left out. `newId` is for components that have none yet. */
export function editorGraph(sent: SentGraph, newId: () => string): EditorGraph {
  const nodes = sent.nodes.map((node): EditorNode => ({ ...node, id: node.id ?? newId() }));
  // An id wins over another component's key.
  const ids = new Map([
    ...nodes.map((node) => [node.componentKey, node.id] as const),
    ...nodes.map((node) => [node.id, node.id] as const),
  ]);
  const edges = sent.edges.flatMap(({ sourceNodeId, targetNodeId, sourcePort }): EditorEdge[] => {
    const source = ids.get(sourceNodeId);
    const target = ids.get(targetNodeId);
    if (source === undefined || target === undefined) return [];
    const ends = { sourceNodeId: source, targetNodeId: target };
    return [sourcePort === undefined ? ends : { ...ends, sourcePort }];
  });
  return { nodes, edges, globalConfig: sent.globalConfig };
}

export const sentGraph = (graph: EditorGraph): SentGraph => ({
  nodes: [...graph.nodes],
  edges: [...graph.edges],
  globalConfig: graph.globalConfig,
});

/** The same for two graphs that come to the same engine config and problems. */
export function contentOf({ nodes, edges, globalConfig }: EditorGraph): string {
  const content = nodes.map(({ positionX: _x, positionY: _y, displayName: _title, ...rest }) => rest);
  return JSON.stringify([content, edges, globalConfig]);
}

export const outputName = (key: string, port: string | undefined): string =>
  port === undefined ? key : `${key}.${port}`;

export const edgeKey = ({ sourceNodeId, sourcePort, targetNodeId }: EditorEdge): string =>
  `${sourceNodeId}.${sourcePort ?? ''}>${targetNodeId}`;

export const titleOf = (node: EditorNode): string => node.displayName || node.componentKey;

export const KIND_WORD: Record<ComponentKind, 'source' | 'transform' | 'sink'> = {
  SOURCE: 'source',
  TRANSFORM: 'transform',
  SINK: 'sink',
};

/** The section of the engine config, and of JSON pointers into it. */
export const SECTION: Record<ComponentKind, string> = {
  SOURCE: 'sources',
  TRANSFORM: 'transforms',
  SINK: 'sinks',
};
