/** What may feed what, and why not. */
import { outputsOf } from '../../../../../schemas/pipelines/outputs.ts';
import { type EditorEdge, type EditorGraph, type EditorNode, MAX_GRAPH_EDGES, outputName } from './graph.ts';

export interface Port {
  /** Absent for the output without a name. */
  name: string | undefined;
  /** Connected, and the component has no such output (any more). */
  missing: boolean;
}

const outputs = (node: EditorNode) => outputsOf({ type: node.componentType, options: node.config });

/** The outputs of a component, with those that its edges name. */
export function portsOf(node: EditorNode, edges: readonly EditorEdge[]): Port[] {
  if (node.kind === 'SINK') return [];
  const { plain, named } = outputs(node);
  const used = edges.flatMap((edge) => (edge.sourceNodeId === node.id ? [edge.sourcePort] : []));
  const ports: Port[] = plain ? [{ name: undefined, missing: false }] : [];
  for (const name of named ?? []) ports.push({ name, missing: false });
  for (const name of new Set(used)) {
    if (ports.some((port) => port.name === name)) continue;
    ports.push({ name, missing: name === undefined || named !== null });
  }
  return ports;
}

/** Why the edge cannot be drawn; null when it can. */
export function connectProblem(graph: EditorGraph, edge: EditorEdge): string | null {
  const problem = problemOfEnds(graph, edge);
  if (problem) return problem;
  const circle = pathBetween(graph, edge.targetNodeId, edge.sourceNodeId);
  if (!circle) return null;
  const keys = new Map(graph.nodes.map(({ id, componentKey }) => [id, componentKey]));
  const way = [edge.sourceNodeId, ...circle].map((id) => keys.get(id) ?? id);
  return `That would close a circle: ${way.join(' → ')}.`;
}

/** All but circles, which only the whole drawing tells. */
function problemOfEnds(graph: EditorGraph, edge: EditorEdge): string | null {
  const source = graph.nodes.find(({ id }) => id === edge.sourceNodeId);
  const target = graph.nodes.find(({ id }) => id === edge.targetNodeId);
  if (!source || !target) return 'That component is no longer there.';
  const from = source.componentKey;
  const to = target.componentKey;
  if (source === target) return `“${from}” cannot feed itself.`;
  if (source.kind === 'SINK') return `“${from}” is a sink: nothing comes out of it.`;
  if (target.kind === 'SOURCE') return `“${to}” is a source: it takes no input.`;
  const { plain, named } = outputs(source);
  const { sourcePort: port } = edge;
  if (port === undefined && !plain)
    return `“${from}” has named outputs only: connect one of ${named?.join(', ') ?? 'them'}.`;
  if (port !== undefined && named !== null && !named.includes(port))
    return `“${from}” has no output “${port}”.`;
  if (graph.edges.some((other) => isSame(other, edge)))
    return `“${outputName(from, port)}” feeds “${to}” already.`;
  if (graph.edges.length >= MAX_GRAPH_EDGES)
    return `A pipeline has at most ${MAX_GRAPH_EDGES} connections; split it into several.`;
  return null;
}

const isSame = (a: EditorEdge, b: EditorEdge): boolean =>
  a.sourceNodeId === b.sourceNodeId && a.targetNodeId === b.targetNodeId && a.sourcePort === b.sourcePort;

/** Every component that is reached along the edges, or against them, each with the one that it is reached from. */
function reach(edges: readonly EditorEdge[], start: string, against = false): Map<string, string | null> {
  const near = Map.groupBy(edges, (edge) => (against ? edge.targetNodeId : edge.sourceNodeId));
  const cameFrom = new Map<string, string | null>([[start, null]]);
  const queue = [start];
  for (const at of queue) {
    for (const edge of near.get(at) ?? []) {
      const next = against ? edge.sourceNodeId : edge.targetNodeId;
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, at);
      queue.push(next);
    }
  }
  return cameFrom;
}

/** Ids from one component along the edges to another, both included; null where no way leads. */
function pathBetween({ edges }: EditorGraph, from: string, to: string): string[] | null {
  const cameFrom = reach(edges, from);
  if (!cameFrom.has(to)) return null;
  const path: string[] = [];
  for (let step: string | null = to; step !== null; step = cameFrom.get(step) ?? null) path.unshift(step);
  return path;
}

export interface Choice {
  edge: EditorEdge;
  /** `key` or `key.port`, or the key of what is fed. */
  word: string;
}

/** What could feed the component. */
export function feedersFor(graph: EditorGraph, target: EditorNode): Choice[] {
  if (target.kind === 'SOURCE') return [];
  const after = reach(graph.edges, target.id);
  const out = Map.groupBy(graph.edges, ({ sourceNodeId }) => sourceNodeId);
  return graph.nodes.flatMap((source) =>
    portsOf(source, out.get(source.id) ?? []).flatMap(({ name }): Choice[] => {
      const edge = edgeOf(source.id, name, target.id);
      if (after.has(source.id) || problemOfEnds(graph, edge)) return [];
      return [{ edge, word: outputName(source.componentKey, name) }];
    }),
  );
}

/** What the output of the component could feed. */
export function takersFor(graph: EditorGraph, source: EditorNode, port: string | undefined): Choice[] {
  const before = reach(graph.edges, source.id, true);
  return graph.nodes.flatMap((target): Choice[] => {
    const edge = edgeOf(source.id, port, target.id);
    if (before.has(target.id) || problemOfEnds(graph, edge)) return [];
    return [{ edge, word: target.componentKey }];
  });
}

export const edgeOf = (
  sourceNodeId: string,
  sourcePort: string | undefined,
  targetNodeId: string,
): EditorEdge =>
  sourcePort === undefined ? { sourceNodeId, targetNodeId } : { sourceNodeId, targetNodeId, sourcePort };
