/** The canvas: components are dropped on it, moved and connected. */
import '@xyflow/react/dist/style.css';
import { useMantineColorScheme } from '@mantine/core';
import {
  applyNodeChanges,
  type Connection,
  Controls,
  type Edge,
  type EdgeChange,
  type FinalConnectionState,
  MiniMap,
  type NodeChange,
  ReactFlow,
  useReactFlow,
} from '@xyflow/react';
import { type DragEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { newId, useEditor } from '../editor-context.ts';
import { connectProblem, edgeOf } from '../model/connect.ts';
import { addComponent, connect, moveComponents } from '../model/edits.ts';
import type { EditorEdge } from '../model/graph.ts';
import { hasComponent, takeComponent } from './catalogue-drag.ts';
import { type ComponentFlowNode, ComponentNode, portOf } from './component-node.tsx';
import { edgeWord, flowEdges, flowNodes } from './flow.ts';
import { NODE_WIDTH } from './layout.ts';
import { useFittingView } from './viewport.ts';

const NODE_TYPES = { component: ComponentNode };
const MINIMAP_FROM = 20;
/** Of more components only those in sight are drawn; the list beside the canvas has all of them. */
const DRAW_ALL_UP_TO = 150;
const WORDS = {
  'node.a11yDescription.default':
    'Enter selects the component and shows its options; the arrow keys move it, Delete removes it.',
  'node.a11yDescription.keyboardDisabled': 'Enter selects the component and shows its options.',
};

/** Which of them are selected after the changes; the same list where none changed. */
function selectedAfter(
  before: readonly string[],
  changes: readonly (NodeChange | EdgeChange)[],
): readonly string[] {
  const next = new Set(before);
  for (const change of changes) {
    if (change.type !== 'select') continue;
    if (change.selected) next.add(change.id);
    else next.delete(change.id);
  }
  return next.size === before.length && before.every((id) => next.has(id)) ? before : [...next];
}

const edgeFrom = ({ source, sourceHandle, target }: Connection | Edge): EditorEdge =>
  edgeOf(source, portOf(sourceHandle), target);

/** What was meant where a line ends on a component, or on a port that it may not end on. */
function edgeMeant(
  event: MouseEvent | TouchEvent,
  { fromHandle, fromNode, toHandle }: FinalConnectionState,
): EditorEdge | null {
  const other = toHandle?.nodeId ?? nodeUnder(event);
  if (!fromHandle || !fromNode || other === null) return null;
  // A line that ends where it began was not meant to be one.
  if (other === fromNode.id && !toHandle) return null;
  if (fromHandle.type === 'source') return edgeOf(fromNode.id, portOf(fromHandle.id), other);
  return edgeOf(other, toHandle?.type === 'source' ? portOf(toHandle.id) : undefined, fromNode.id);
}

/** The library tells of ports only. */
function nodeUnder(event: MouseEvent | TouchEvent): string | null {
  const point = 'changedTouches' in event ? event.changedTouches[0] : event;
  if (!point) return null;
  const under = document.elementFromPoint(point.clientX, point.clientY);
  return under?.closest<HTMLElement>('.react-flow__node')?.dataset.id ?? null;
}

interface Props {
  /** Over the canvas while nothing is drawn. */
  empty: ReactNode;
  /** The page scrolls, and the wheel is its own. */
  stacked: boolean;
}

export const Canvas = ({ empty, stacked }: Props) => {
  const editor = useEditor();
  const { graph, readOnly, change, select, refuse } = editor;
  const { colorScheme } = useMantineColorScheme();
  const flow = useReactFlow();
  const [nodes, setNodes] = useState<ComponentFlowNode[]>(() => flowNodes(editor, new Map()));
  useEffect(() => {
    setNodes((before) => flowNodes(editor, new Map(before.map((node) => [node.id, node]))));
  }, [editor]);
  const off = graph.nodes.flatMap(({ id, disabled }) => (disabled ? [id] : [])).join(' ');
  const edges = useMemo(
    () => flowEdges(graph.edges, editor.selection.edges, off.split(' ')),
    [graph.edges, editor.selection.edges, off],
  );
  const host = useRef<HTMLElement>(null);
  const hold = useFittingView(host, graph, editor.selection.nodes[0]);

  const onNodesChange = (changes: NodeChange<ComponentFlowNode>[]): void => {
    setNodes((before) => applyNodeChanges(changes, before));
    select((before) => ({ ...before, nodes: selectedAfter(before.nodes, changes) }));
    const moved = changes.flatMap((each) =>
      each.type === 'position' && each.dragging === false && each.position
        ? [[each.id, each.position] as const]
        : [],
    );
    if (moved.length === 0 || readOnly) return;
    const places = new Map(moved);
    change({
      word: moved.length === 1 ? 'Move' : `Move ${moved.length} components`,
      burst: `move ${[...places.keys()].join(' ')}`,
      change: (now) => moveComponents(now, places),
    });
  };

  const draw = (edge: EditorEdge): void => {
    const problem = connectProblem(graph, edge);
    if (problem) refuse(problem);
    else change({ word: `Connect ${edgeWord(graph, edge)}`, change: (now) => connect(now, edge) });
  };

  const onDrop = (event: DragEvent): void => {
    const component = takeComponent(event.dataTransfer);
    if (!component || readOnly) return;
    event.preventDefault();
    const { x, y } = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const id = newId();
    change({
      word: `Add ${component.type}`,
      change: (now) => addComponent(now, component, id, { at: { x: x - NODE_WIDTH / 2, y: y - 28 } }),
      select: { nodes: [id], edges: [] },
    });
  };

  return (
    <section
      ref={host}
      className="graph editor-canvas"
      aria-label="Canvas"
      tabIndex={-1}
      onDrop={onDrop}
      onDragOver={(event) => {
        if (!hasComponent(event.dataTransfer)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = 'copy';
      }}
    >
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        colorMode={colorScheme === 'auto' ? 'system' : colorScheme}
        onNodesChange={onNodesChange}
        onEdgesChange={(changes) =>
          select((before) => ({ ...before, edges: selectedAfter(before.edges, changes) }))
        }
        onConnect={(connection) => draw(edgeFrom(connection))}
        isValidConnection={(connection) => connectProblem(graph, edgeFrom(connection)) === null}
        onMoveStart={(event) => event && hold()}
        onConnectEnd={(event, state) => {
          const edge = state.isValid ? null : edgeMeant(event, state);
          if (edge) draw(edge);
        }}
        nodesDraggable={!readOnly}
        nodesConnectable={!readOnly}
        edgesFocusable={false}
        deleteKeyCode={null}
        onlyRenderVisibleElements={graph.nodes.length > DRAW_ALL_UP_TO}
        connectionRadius={28}
        minZoom={0.1}
        maxZoom={2}
        zoomOnScroll={!stacked}
        preventScrolling={!stacked}
        ariaLabelConfig={WORDS}
        proOptions={{ hideAttribution: true }}
      >
        <Controls showInteractive={false} />
        {graph.nodes.length >= MINIMAP_FROM && <MiniMap pannable ariaLabel="Map of the graph" />}
      </ReactFlow>
      {graph.nodes.length === 0 && empty}
    </section>
  );
};
