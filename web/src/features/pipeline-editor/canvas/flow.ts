/** The drawing as the canvas library wants it. What did not change stays the same object, so that it is not drawn again. */
import type { Edge } from '@xyflow/react';
import type { Editor } from '../editor-context.ts';
import { portsOf } from '../model/connect.ts';
import { type EditorEdge, edgeKey, outputName } from '../model/graph.ts';
import { problemsOf } from '../model/problems.ts';
import { type ComponentFlowNode, describeNode, handleOf, handlesOf } from './component-node.tsx';
import { sizeOf } from './layout.ts';

export function flowNodes(
  { graph, selection, problems, shared, readOnly }: Editor,
  before: ReadonlyMap<string, ComponentFlowNode>,
): ComponentFlowNode[] {
  const selected = new Set(selection.nodes);
  const keys = new Map(graph.nodes.map(({ id, componentKey }) => [id, componentKey]));
  const out = Map.groupBy(graph.edges, ({ sourceNodeId }) => sourceNodeId);
  const into = Map.groupBy(graph.edges, ({ targetNodeId }) => targetNodeId);
  return graph.nodes.map((node) => {
    const newest = shared.get(node.sharedComponentId ?? '')?.version;
    const data = {
      node,
      ports: portsOf(node, out.get(node.id) ?? []),
      problems: problemsOf(problems, node).length,
      outdated: newest !== undefined && newest !== node.sharedComponentVersion,
      readOnly,
    };
    const inputs = (into.get(node.id) ?? []).map((edge) =>
      outputName(keys.get(edge.sourceNodeId) ?? '', edge.sourcePort),
    );
    const made: ComponentFlowNode = {
      id: node.id,
      type: 'component',
      position: { x: node.positionX, y: node.positionY },
      ...sizeOf(data.ports),
      handles: handlesOf(node.kind, data.ports),
      data,
      selected: selected.has(node.id),
      ariaLabel: describeNode(data, inputs),
    };
    const old = before.get(node.id);
    return old && isSame(old, made) ? old : { ...made, measured: old?.measured };
  });
}

function isSame(a: ComponentFlowNode, b: ComponentFlowNode): boolean {
  return (
    a.data.node === b.data.node &&
    a.selected === b.selected &&
    a.ariaLabel === b.ariaLabel &&
    a.data.outdated === b.data.outdated &&
    a.data.readOnly === b.data.readOnly &&
    JSON.stringify(a.data.ports) === JSON.stringify(b.data.ports)
  );
}

/** `off` are the components that are left out, by id. */
export function flowEdges(
  edges: readonly EditorEdge[],
  selection: readonly string[],
  off: readonly string[],
): Edge[] {
  const selected = new Set(selection);
  return edges.map((edge) => {
    const key = edgeKey(edge);
    return {
      id: key,
      source: edge.sourceNodeId,
      target: edge.targetNodeId,
      sourceHandle: handleOf(edge.sourcePort),
      selected: selected.has(key),
      className:
        off.includes(edge.sourceNodeId) || off.includes(edge.targetNodeId) ? 'editor-edge-off' : undefined,
    };
  });
}

export function edgeWord(graph: Editor['graph'], edge: EditorEdge): string {
  const keyOf = (id: string): string => graph.nodes.find((node) => node.id === id)?.componentKey ?? 'nothing';
  return `${outputName(keyOf(edge.sourceNodeId), edge.sourcePort)} → ${keyOf(edge.targetNodeId)}`;
}
