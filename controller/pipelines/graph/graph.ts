/** The graph as users edit it: normalized when it is saved, and converted to a definition for checks and rendering. */
import type { GraphEdge, GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import { badRequest } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import type { Definition } from '../definition/definition.ts';

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  globalConfig: Record<string, unknown>;
}

/** A stored node has an id. */
export type StoredNode = GraphNode & { id: string };

export const MAX_GRAPH_BYTES = 1_048_576;
/** Sections that are generated from nodes. */
const NODE_SECTIONS = ['sources', 'transforms', 'sinks'] as const;

export const outputName = (key: string, port: string | undefined): string =>
  port === undefined ? key : `${key}.${port}`;

const edgeId = (sourceKey: string, port: string | undefined, targetKey: string): string =>
  `${outputName(sourceKey, port)}>${targetKey}`;

/**
 * Adds missing ids and makes edges refer to node ids. Refuses what cannot be drawn; incomplete graphs (a missing input, a
 * cycle) are reported by the checks.
 *
 * @throws BAD_REQUEST
 */
export function normaliseGraph(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
): { nodes: StoredNode[]; edges: GraphEdge[] } {
  const byReference = new Map<string, StoredNode>();
  const keys = new Set<string>();
  const stored = nodes.map((node): StoredNode => {
    const withId = { ...node, id: node.id ?? newId() };
    if (node.componentKey === '__proto__')
      throw badRequest('No component can have the key "__proto__"; choose another one');
    if (keys.has(node.componentKey))
      throw badRequest(`Two components have the key "${node.componentKey}"; give each component its own key`);
    keys.add(node.componentKey);
    for (const reserved of ['type', 'inputs']) {
      if (Object.hasOwn(node.config, reserved))
        throw badRequest(
          `The config of "${node.componentKey}" contains "${reserved}"; the type is componentType, and inputs are edges`,
        );
    }
    if (byReference.has(withId.id)) throw badRequest(`Two components have the id "${withId.id}"`);
    byReference.set(withId.id, withId);
    return withId;
  });
  // An id takes precedence over another node's key.
  for (const node of stored)
    if (!byReference.has(node.componentKey)) byReference.set(node.componentKey, node);
  const find = (reference: string, end: string): StoredNode => {
    const node = byReference.get(reference);
    if (!node)
      throw badRequest(`An edge names the ${end} "${reference}", and no component has that id or key`);
    return node;
  };
  const drawn = new Map<string, GraphEdge>();
  for (const edge of edges) {
    const source = find(edge.sourceNodeId, 'source');
    const target = find(edge.targetNodeId, 'target');
    const from = outputName(source.componentKey, edge.sourcePort);
    const edgeName = `${from} → ${target.componentKey}`;
    if (source.kind === 'SINK') throw badRequest(`${edgeName}: a sink has no output; connect what feeds it`);
    if (target.kind === 'SOURCE')
      throw badRequest(`${edgeName}: a source takes no input; connect it to a transform or a sink`);
    if (edge.sourcePort !== undefined && /[*?]/.test(edge.sourcePort))
      throw badRequest(
        `${edgeName}: * and ? stand for several outputs in a config; connect each output by its name, which has neither`,
      );
    if (source === target) throw badRequest(`${edgeName}: a component cannot feed itself`);
    const id = edgeId(source.componentKey, edge.sourcePort, target.componentKey);
    if (drawn.has(id)) throw badRequest(`${edgeName} is drawn twice; remove one of the two edges`);
    drawn.set(id, {
      id,
      sourceNodeId: source.id,
      targetNodeId: target.id,
      ...(edge.sourcePort === undefined ? {} : { sourcePort: edge.sourcePort }),
    });
  }
  return { nodes: stored, edges: [...drawn.values()] };
}

/** @throws BAD_REQUEST */
export function assertGraphSize(graph: Graph): void {
  for (const section of NODE_SECTIONS) {
    if (Object.hasOwn(graph.globalConfig, section))
      throw badRequest(`globalConfig contains "${section}"; put components into nodes`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(graph));
  if (bytes > MAX_GRAPH_BYTES)
    throw badRequest(
      `The graph has ${bytes} bytes, the limit is ${MAX_GRAPH_BYTES}; split the pipeline into several`,
    );
}

/** Copies a graph with new ids. `keepLinks` keeps the links to shared components. */
export function copyGraph(graph: Pick<Graph, 'nodes' | 'edges'>, keepLinks: boolean) {
  const renamed = new Map(graph.nodes.map((node) => [node.id ?? node.componentKey, newId()]));
  const at = (reference: string) => renamed.get(reference) ?? reference;
  return normaliseGraph(
    graph.nodes.map(({ sharedComponentId, sharedComponentVersion, ...node }) => ({
      ...node,
      id: at(node.id ?? node.componentKey),
      ...(keepLinks && sharedComponentId !== undefined ? { sharedComponentId, sharedComponentVersion } : {}),
    })),
    graph.edges.map((edge) => ({
      ...edge,
      sourceNodeId: at(edge.sourceNodeId),
      targetNodeId: at(edge.targetNodeId),
    })),
  );
}

/** Settings of a definition that a graph does not contain. */
export interface DefinitionSettings {
  logLevel?: Definition['logLevel'];
  drainSeconds?: number | null;
  nodeSelector?: Definition['nodeSelector'] | null;
}

/** Converts a graph to a definition, as if it were deployed. */
export function definitionOf(graph: Graph & DefinitionSettings): Definition {
  const inputs = new Map<string, string[]>();
  const keyOf = new Map(graph.nodes.map((node) => [node.id ?? node.componentKey, node.componentKey]));
  for (const edge of graph.edges) {
    const source = keyOf.get(edge.sourceNodeId) ?? edge.sourceNodeId;
    const target = keyOf.get(edge.targetNodeId) ?? edge.targetNodeId;
    const list = inputs.get(target) ?? [];
    list.push(outputName(source, edge.sourcePort));
    inputs.set(target, list);
  }
  const section = (kind: GraphNode['kind']) =>
    Object.fromEntries(
      graph.nodes
        .filter((node) => node.kind === kind)
        .map((node) => [
          node.componentKey,
          {
            type: node.componentType,
            ...(kind === 'SOURCE' ? {} : { inputs: inputs.get(node.componentKey) ?? [] }),
            ...node.config,
          },
        ]),
    );
  return {
    sources: section('SOURCE') as Definition['sources'],
    transforms: section('TRANSFORM') as Definition['transforms'],
    sinks: section('SINK') as Definition['sinks'],
    global: graph.globalConfig,
    components: Object.fromEntries(
      graph.nodes.map((node) => [
        node.componentKey,
        {
          disabled: node.disabled,
          position: [node.positionX, node.positionY],
          ...(node.displayName === undefined ? {} : { displayName: node.displayName }),
        },
      ]),
    ),
    logLevel: graph.logLevel ?? 'info',
    drainSeconds: graph.drainSeconds ?? undefined,
    nodeSelector: graph.nodeSelector ?? undefined,
    deployed: true,
    dependsOn: [],
  };
}
