/** Pipelines and what they wait for, drawn left to right. */
import '@xyflow/react/dist/style.css';
import { graphlib, layout } from '@dagrejs/dagre';
import { useMantineColorScheme } from '@mantine/core';
import {
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react';
import { useMemo } from 'react';
import { Link } from 'react-router';
import type { DependencyGraph } from '../../../../../schemas/api/pipelines/pipeline-order.ts';
import { paths } from '../../../app/paths.ts';
import { useNodeSizes } from '../../../ui/flow/node-sizes.ts';
import { TONE_ICON } from '../../../ui/primitives/badge.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import type { Tone } from '../../../ui/primitives/tone.ts';
import { gateState } from '../../gate/gate-state.ts';

interface Props {
  env: string;
  graph: DependencyGraph;
  /** The pipeline that the page is about. */
  current: string;
}

type PipelineNode = Node<
  { name: string; href: string; tone: Tone; word: string; current: boolean },
  'pipeline'
>;

const WIDTH = 180;
const HEIGHT = 44;

const Box = ({ data: { name, href, tone, word, current } }: NodeProps<PipelineNode>) => (
  <div className="dependency-box" data-tone={tone} data-current={current || undefined}>
    <Handle type="target" position={Position.Left} isConnectable={false} />
    <Icon name={TONE_ICON[tone]} size={14} />
    <Link to={href} className="dependency-name" aria-current={current ? 'true' : undefined}>
      {name}
    </Link>
    <span className="dependency-word">{word}</span>
    <Handle type="source" position={Position.Right} isConnectable={false} />
  </div>
);

const NODE_TYPES = { pipeline: Box };

export const DependencyMap = ({ env, graph, current }: Props) => {
  const { colorScheme } = useMantineColorScheme();
  const sizes = useNodeSizes();
  const { places, height } = useMemo(() => place(graph), [graph]);
  const nodes: PipelineNode[] = graph.nodes.map(({ id, name, isDraft, gate }) => {
    const state = gateState(gate);
    return {
      id,
      type: 'pipeline',
      position: places.get(id) ?? { x: 0, y: 0 },
      width: WIDTH,
      measured: sizes.of(id),
      draggable: false,
      connectable: false,
      focusable: false,
      data: {
        name,
        href: paths.pipeline(env, id, { tab: 'dependencies' }),
        tone: isDraft ? 'unknown' : state === 'done' ? 'ok' : state,
        word: isDraft ? 'not deployed' : state === 'done' ? 'running' : state,
        current: id === current,
      },
    };
  });
  const edges: Edge[] = graph.edges.map(({ source, upstreamId, downstreamId }) => ({
    id: `${source} ${upstreamId} ${downstreamId}`,
    source: upstreamId,
    target: downstreamId,
    focusable: false,
    markerEnd: { type: MarkerType.ArrowClosed },
  }));
  return (
    <section
      className="graph"
      aria-label="Graph of dependencies"
      style={{ height: Math.min(Math.max(height + 40, 180), 460) }}
    >
      <ReactFlow
        // A new drawing is fitted again.
        key={nodes.map(({ id }) => id).join()}
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        colorMode={colorScheme === 'auto' ? 'system' : colorScheme}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.08 }}
        minZoom={0.15}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        onNodesChange={sizes.follow}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
      >
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  );
};

function place(graph: DependencyGraph): {
  places: ReadonlyMap<string, { x: number; y: number }>;
  height: number;
} {
  const laid = new graphlib.Graph();
  laid.setGraph({ rankdir: 'LR', nodesep: 20, ranksep: 60, marginx: 12, marginy: 12 });
  laid.setDefaultEdgeLabel(() => ({}));
  for (const { id } of graph.nodes) laid.setNode(id, { width: WIDTH, height: HEIGHT });
  for (const { upstreamId, downstreamId } of graph.edges) laid.setEdge(upstreamId, downstreamId);
  layout(laid);
  const places = new Map(
    graph.nodes.map(({ id }) => {
      const at = laid.node(id);
      return [id, { x: at.x - WIDTH / 2, y: at.y - HEIGHT / 2 }];
    }),
  );
  return { places, height: laid.graph().height ?? HEIGHT };
}
