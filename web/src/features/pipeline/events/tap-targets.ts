/** Which outputs of a pipeline's components there are to look at. Knows what the page knows; the controller decides. */
import type { GraphEdge, GraphNode } from '../../../../../schemas/api/pipelines/graph.ts';
import { outputsOf } from '../../../../../schemas/pipelines/outputs.ts';

export interface TapTarget {
  /** As the controller takes it: the component's key, or `key.port` for a named output. */
  key: string;
  componentKey: string;
  kind: GraphNode['kind'];
  type: string;
}

const KINDS: readonly GraphNode['kind'][] = ['SOURCE', 'TRANSFORM', 'SINK'];

type Edges = readonly Pick<GraphEdge, 'sourceNodeId' | 'targetNodeId' | 'sourcePort'>[];

/** Edges name a component by its id or by its key. */
const isEnd = (node: GraphNode, end: string): boolean => end === node.id || end === node.componentKey;

/** Sources first, then transforms, then sinks; what is switched off is not deployed and has no events. */
export function tapTargets(nodes: readonly GraphNode[], edges: Edges): TapTarget[] {
  return KINDS.flatMap((kind) =>
    nodes
      .filter((node) => node.kind === kind && !node.disabled)
      .flatMap((node) =>
        keysOf(node, edges).map((key) => ({
          key,
          componentKey: node.componentKey,
          kind,
          type: node.componentType,
        })),
      ),
  );
}

function keysOf(node: GraphNode, edges: Edges): string[] {
  const { componentKey: key } = node;
  if (node.kind === 'SINK') return [key];
  const { plain, named } = outputsOf({ type: node.componentType, options: node.config });
  // Of types that are not known here, the outputs that something takes are known at least.
  const ports =
    named ??
    edges.flatMap(({ sourceNodeId, sourcePort }) =>
      sourcePort !== undefined && isEnd(node, sourceNodeId) ? [sourcePort] : [],
    );
  return [...(plain ? [key] : []), ...[...new Set(ports)].map((port) => `${key}.${port}`)];
}

/** The output to begin with when only the component is known. */
export const firstOf = (targets: readonly TapTarget[], wanted: string): TapTarget | undefined =>
  targets.find(({ key }) => key === wanted) ??
  targets.find(({ componentKey }) => componentKey === wanted) ??
  targets[0];

/** Components before or after the target in the drawing, nearest only: those that it is compared with most. */
export function neighboursOf(
  target: TapTarget,
  targets: readonly TapTarget[],
  { nodes, edges }: { nodes: readonly GraphNode[]; edges: Edges },
): { before: TapTarget[]; after: TapTarget[] } {
  const own = nodes.find(({ componentKey }) => componentKey === target.componentKey);
  const port =
    target.key === target.componentKey ? undefined : target.key.slice(target.componentKey.length + 1);
  const before = new Set<string>();
  const after = new Set<string>();
  for (const { sourceNodeId, targetNodeId, sourcePort } of own ? edges : []) {
    const source = nodes.find((node) => isEnd(node, sourceNodeId));
    const sink = nodes.find((node) => isEnd(node, targetNodeId));
    if (!source || !sink) continue;
    if (sink === own) before.add(sourcePort ? `${source.componentKey}.${sourcePort}` : source.componentKey);
    if (source === own && sourcePort === port) after.add(sink.componentKey);
  }
  return {
    before: targets.filter(({ key }) => before.has(key)),
    after: targets.filter(({ componentKey }) => after.has(componentKey)),
  };
}
