/** The pipeline as a graph, laid out left to right, with what flows through it. */
import '@xyflow/react/dist/style.css';
import { graphlib, layout } from '@dagrejs/dagre';
import { useMantineColorScheme } from '@mantine/core';
import {
  Controls,
  type Edge,
  Handle,
  MiniMap,
  type Node,
  type NodeChange,
  type NodeProps,
  Position,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react';
import { useMemo, useRef } from 'react';
import type { GraphEdge, GraphNode } from '../../../../schemas/api/pipelines/graph.ts';
import type { ComponentThroughput } from '../../../../schemas/api/pipelines/on-nodes.ts';
import { useNodeSizes } from '../../ui/flow/node-sizes.ts';
import { Icon } from '../../ui/primitives/icons.tsx';
import { formatLatency, formatPercent, formatRate } from '../../ui/text/format.ts';

interface Props {
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
  components: readonly ComponentThroughput[];
  /** Key of a component. */
  selected?: string | undefined;
  /** Null when none is to be selected any longer. Absent, nothing can be. */
  select?: (componentKey: string | null) => void;
}

type FlowNode = Node<{ node: GraphNode; seen: ComponentThroughput | undefined }, 'component'>;

const WIDTH = 190;
const HEIGHT = 56;
const MINIMAP_FROM = 20;
const LABEL_PX = 64;
const CHARACTER_PX = 8;
/** Below this the names cannot be read: then the graph is moved instead of shrunk. */
const MIN_FIT = 0.55;

const KIND = {
  SOURCE: { icon: 'source', word: 'source' },
  TRANSFORM: { icon: 'transform', word: 'transform' },
  SINK: { icon: 'sink', word: 'sink' },
} as const;

const ComponentNode = ({ data: { node, seen } }: NodeProps<FlowNode>) => (
  <div
    className="graph-node"
    data-kind={node.kind}
    data-errors={(seen?.errors ?? 0) > 0 || undefined}
    data-disabled={node.disabled || undefined}
  >
    {node.kind !== 'SOURCE' && <Handle type="target" position={Position.Left} isConnectable={false} />}
    <Icon name={KIND[node.kind].icon} />
    <span className="graph-name">{node.displayName ?? node.componentKey}</span>
    <span className="graph-type">
      {node.componentType}
      {node.disabled ? ', disabled' : ''}
    </span>
    {seen && seen.errors > 0 && (
      <span className="graph-errors">{seen.errors.toLocaleString('en')} errors</span>
    )}
    {seen && loadOf(seen) !== '' && <span className="graph-load">{loadOf(seen)}</span>}
    {node.kind !== 'SINK' && <Handle type="source" position={Position.Right} isConnectable={false} />}
  </div>
);

/** `12 % busy · 0.42 ms`: how busy it is, and how long an event takes. */
const loadOf = ({ utilization, latencyMeanSeconds }: ComponentThroughput): string =>
  [
    utilization === null ? null : `${formatPercent(utilization)} busy`,
    latencyMeanSeconds === null ? null : formatLatency(latencyMeanSeconds),
  ]
    .filter((part) => part !== null)
    .join(' · ');

const NODE_TYPES = { component: ComponentNode };

/** Edges may name a component by its id or by its key. */
const idOf = (node: GraphNode): string => node.id ?? node.componentKey;

interface Layout {
  places: Map<string, { x: number; y: number }>;
  /** Of the whole graph, in pixels at full size. */
  width: number;
  height: number;
}

function place(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Layout {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 28, ranksep: 40, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(idOf(node), { width: WIDTH, height: HEIGHT });
  for (const edge of edges) {
    // Room for the label, so that it never lies over a node.
    const width = LABEL_PX + (edge.sourcePort?.length ?? 0) * CHARACTER_PX;
    graph.setEdge(edge.sourceNodeId, edge.targetNodeId, { width, height: 16, labelpos: 'c' });
  }
  layout(graph);
  const places = new Map(
    nodes.map((node) => {
      const at = graph.node(idOf(node));
      return [idOf(node), { x: at.x - WIDTH / 2, y: at.y - HEIGHT / 2 }];
    }),
  );
  const { width = WIDTH, height = HEIGHT } = graph.graph();
  return { places, width, height };
}

export const Graph = ({ nodes, edges, components, selected, select }: Props) => {
  const frame = useRef<HTMLElement>(null);
  const { colorScheme } = useMantineColorScheme();
  const named = useMemo(() => normalised(nodes, edges), [nodes, edges]);
  const { places, width, height } = useMemo(() => place(nodes, named), [nodes, named]);
  const seen = new Map(components.map((component) => [component.componentKey, component]));
  const keys = new Map(nodes.map((node) => [idOf(node), node.componentKey]));
  const sizes = useNodeSizes();

  const flowNodes: FlowNode[] = nodes.map((node) => ({
    id: idOf(node),
    type: 'component',
    position: places.get(idOf(node)) ?? { x: 0, y: 0 },
    data: { node, seen: seen.get(node.componentKey) },
    ariaLabel: describe(node, seen.get(node.componentKey)),
    width: WIDTH,
    measured: sizes.of(idOf(node)),
    draggable: false,
    connectable: false,
    selected: node.componentKey === selected,
  }));
  const flowEdges: Edge[] = named.map((edge, index) => {
    const source = seen.get(keys.get(edge.sourceNodeId) ?? '');
    const target = seen.get(keys.get(edge.targetNodeId) ?? '');
    const rate = edgeRate(edge, named, source, target);
    return {
      id: edge.id ?? `edge-${index}`,
      source: edge.sourceNodeId,
      target: edge.targetNodeId,
      label:
        [edge.sourcePort, rate === null ? null : formatRate(rate)].filter(Boolean).join(' · ') || undefined,
      labelBgPadding: [4, 2],
      focusable: false,
      style: { strokeWidth: rate ? 1.25 + Math.min(Math.log10(1 + rate), 4) * 0.75 : 1.25 },
    };
  });

  const onChanges = (changes: NodeChange<FlowNode>[]): void => {
    sizes.follow(changes);
    const selections = changes.filter((change) => change.type === 'select');
    const chosen = selections.find((change) => change.selected);
    if (selections.length > 0) select?.(chosen ? (keys.get(chosen.id) ?? null) : null);
  };

  /** A graph that cannot be shown whole begins at its sources. */
  const showStart = (flow: ReactFlowInstance<FlowNode>): void => {
    const room = frame.current;
    if (!room || room.clientWidth >= width * MIN_FIT) return;
    void flow.setViewport({ x: 0, y: (room.clientHeight - height * MIN_FIT) / 2, zoom: MIN_FIT });
  };

  return (
    <section
      ref={frame}
      className="graph"
      aria-label="Graph of components"
      style={{ height: Math.min(Math.max(height + 40, 200), 460) }}
    >
      <ReactFlow
        nodes={flowNodes}
        edges={flowEdges}
        nodeTypes={NODE_TYPES}
        colorMode={colorScheme === 'auto' ? 'system' : colorScheme}
        fitView
        onInit={showStart}
        fitViewOptions={{ maxZoom: 1, minZoom: MIN_FIT, padding: 0.08 }}
        minZoom={0.15}
        onNodesChange={onChanges}
        elementsSelectable={select !== undefined}
        deleteKeyCode={null}
        multiSelectionKeyCode={null}
        selectionKeyCode={null}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
      >
        <Controls showInteractive={false} />
        {nodes.length >= MINIMAP_FROM && <MiniMap pannable ariaLabel="Map of the graph" />}
      </ReactFlow>
    </section>
  );
};

function normalised(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): GraphEdge[] {
  const ids = new Map(
    nodes.flatMap((node) => [
      [node.componentKey, idOf(node)],
      [idOf(node), idOf(node)],
    ]),
  );
  return edges.flatMap((edge) => {
    const sourceNodeId = ids.get(edge.sourceNodeId);
    const targetNodeId = ids.get(edge.targetNodeId);
    return sourceNodeId && targetNodeId ? [{ ...edge, sourceNodeId, targetNodeId }] : [];
  });
}

/** Known only where the counters allow it: a sole input of the target, or the sole output of the source. */
function edgeRate(
  edge: GraphEdge,
  edges: readonly GraphEdge[],
  source: ComponentThroughput | undefined,
  target: ComponentThroughput | undefined,
): number | null {
  if (target && edges.filter(({ targetNodeId }) => targetNodeId === edge.targetNodeId).length === 1)
    return target.receivedRate;
  if (source && !edge.sourcePort) return source.sentRate;
  return null;
}

function loadText({ utilization, latencyMeanSeconds }: ComponentThroughput): string {
  const busy = utilization === null ? '' : `, ${formatPercent(utilization)} busy`;
  return latencyMeanSeconds === null ? busy : `${busy}, ${formatLatency(latencyMeanSeconds)} an event`;
}

function describe(node: GraphNode, seen: ComponentThroughput | undefined): string {
  const flow = seen
    ? `, ${formatRate(seen.receivedRate)} in, ${formatRate(seen.sentRate)} out, ${seen.errors} errors${loadText(seen)}`
    : '';
  return `${KIND[node.kind].word} ${node.displayName ?? node.componentKey}, ${node.componentType}${flow}`;
}
