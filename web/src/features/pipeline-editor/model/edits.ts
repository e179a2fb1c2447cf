/** Everything that can be done to a graph. Each gives another graph and leaves the one that it was given. */
import { RESERVED_PREFIX } from '../../../../../schemas/agent/limits.ts';
import { outputsOf } from '../../../../../schemas/pipelines/outputs.ts';
import { type Box, freePlace, sizeOf } from '../canvas/layout.ts';
import { connectProblem, edgeOf, portsOf } from './connect.ts';
import {
  COMPONENT_KEY_PATTERN,
  type ComponentKind,
  type Config,
  type EditorEdge,
  type EditorGraph,
  type EditorNode,
  edgeKey,
  MAX_KEY_LENGTH,
} from './graph.ts';

export interface Place {
  x: number;
  y: number;
}

/** What stands in the catalogue. */
export interface NewComponent {
  kind: ComponentKind;
  type: string;
  shared?: { id: string; version: number; config: Config };
}

const GAP_X = 90;
const COPY_OFFSET = 40;
const KEY = new RegExp(COMPONENT_KEY_PATTERN);

/** A key that no component has, from a component type or another key. */
export function freeKey(graph: Pick<EditorGraph, 'nodes'>, wanted: string): string {
  const base =
    wanted
      .replaceAll(/[^a-zA-Z0-9_]/g, '_')
      .replace(/^(?=\d|$)/, '_')
      .slice(0, MAX_KEY_LENGTH - 5) || '_';
  const taken = new Set(graph.nodes.map(({ componentKey }) => componentKey));
  let key = base;
  for (let count = 2; taken.has(key); count += 1) key = `${base}_${count}`;
  return key;
}

/** What is wrong with a key for the component; empty when nothing is. */
export function keyProblem(graph: EditorGraph, id: string, key: string): string {
  if (key === '') return 'A component needs a key.';
  if (!KEY.test(key)) return 'Letters, digits and _ only, and no digit at the start.';
  if (key.length > MAX_KEY_LENGTH) return `At most ${MAX_KEY_LENGTH} characters.`;
  if (key.startsWith(RESERVED_PREFIX)) return `${RESERVED_PREFIX}… is for the agent’s own components.`;
  if (graph.nodes.some((node) => node.id !== id && node.componentKey === key))
    return `Another component is called “${key}”.`;
  return '';
}

const boxes = (graph: EditorGraph): Box[] =>
  graph.nodes.map((node) => ({
    x: node.positionX,
    y: node.positionY,
    ...sizeOf(portsOf(node, graph.edges)),
  }));

/** Sources stand below one another, the others to the right of what feeds them. */
const besides = ({ positionX, positionY }: EditorNode, kind: ComponentKind): Place => ({
  x: kind === 'SOURCE' ? positionX : positionX + sizeOf([]).width + GAP_X,
  y: positionY,
});

/**
 * Puts it where it was dropped; otherwise beside `after`, connected to it where that may be; otherwise at
 * `middle`. Nothing is covered.
 */
export function addComponent(
  graph: EditorGraph,
  component: NewComponent,
  id: string,
  where: { at: Place } | { middle: Place; after: EditorNode | undefined },
): EditorGraph {
  const after = 'at' in where ? undefined : where.after;
  const wanted = 'at' in where ? where.at : after ? besides(after, component.kind) : where.middle;
  const node: EditorNode = {
    id,
    componentKey: freeKey(graph, component.type),
    componentType: component.type,
    kind: component.kind,
    config: component.shared?.config ?? {},
    positionX: 0,
    positionY: 0,
    disabled: false,
    ...(component.shared
      ? { sharedComponentId: component.shared.id, sharedComponentVersion: component.shared.version }
      : {}),
  };
  const { x, y } = freePlace(boxes(graph), wanted, sizeOf(portsOf(node, [])));
  const added = {
    ...graph,
    nodes: [...graph.nodes, { ...node, positionX: Math.round(x), positionY: Math.round(y) }],
  };
  if (!after) return added;
  const edge = edgeOf(after.id, undefined, id);
  return connectProblem(added, edge) ? added : connect(added, edge);
}

/** The edge must have no `connectProblem`. */
export const connect = (graph: EditorGraph, edge: EditorEdge): EditorGraph => ({
  ...graph,
  edges: [...graph.edges, edge],
});

export const disconnect = (graph: EditorGraph, keys: readonly string[]): EditorGraph => ({
  ...graph,
  edges: graph.edges.filter((edge) => !keys.includes(edgeKey(edge))),
});

/** With all edges of the components. */
export function removeComponents(graph: EditorGraph, ids: readonly string[]): EditorGraph {
  const gone = new Set(ids);
  return {
    ...graph,
    nodes: graph.nodes.filter(({ id }) => !gone.has(id)),
    edges: graph.edges.filter((edge) => !gone.has(edge.sourceNodeId) && !gone.has(edge.targetNodeId)),
  };
}

/**
 * Copies take the inputs of what they are copied from; nothing takes theirs but copies. Those of which a link cannot be
 * pasted have the config as their own.
 */
export function duplicateComponents(
  graph: EditorGraph,
  ids: readonly string[],
  newId: () => string,
  mayLink: (node: EditorNode) => boolean = () => true,
): { graph: EditorGraph; ids: string[] } {
  const copies = new Map<string, string>();
  let next = graph;
  for (const node of graph.nodes) {
    if (!ids.includes(node.id)) continue;
    const id = newId();
    copies.set(node.id, id);
    const wanted = { x: node.positionX + COPY_OFFSET, y: node.positionY + COPY_OFFSET };
    const { x, y } = freePlace(boxes(next), wanted, sizeOf(portsOf(node, [])));
    const copy = {
      ...node,
      id,
      componentKey: freeKey(next, node.componentKey.replace(/_\d+$/, '')),
      positionX: x,
      positionY: y,
    };
    next = { ...next, nodes: [...next.nodes, copy] };
    if (!mayLink(node)) next = unlinkShared(next, id);
  }
  const edges = graph.edges.flatMap((edge): EditorEdge[] => {
    const target = copies.get(edge.targetNodeId);
    if (target === undefined) return [];
    return [edgeOf(copies.get(edge.sourceNodeId) ?? edge.sourceNodeId, edge.sourcePort, target)];
  });
  return { graph: { ...next, edges: [...next.edges, ...edges] }, ids: [...copies.values()] };
}

/** Positions in whole pixels; the same graph where nothing moved. */
export function moveComponents(graph: EditorGraph, places: ReadonlyMap<string, Place>): EditorGraph {
  let moved = false;
  const nodes = graph.nodes.map((node) => {
    const place = places.get(node.id);
    if (!place) return node;
    const positionX = Math.round(place.x);
    const positionY = Math.round(place.y);
    if (positionX === node.positionX && positionY === node.positionY) return node;
    moved = true;
    return { ...node, positionX, positionY };
  });
  return moved ? { ...graph, nodes } : graph;
}

function change(graph: EditorGraph, id: string, next: (node: EditorNode) => EditorNode): EditorGraph {
  return { ...graph, nodes: graph.nodes.map((node) => (node.id === id ? next(node) : node)) };
}

/** Edges name components by id, so that they follow a new key. */
export const renameComponent = (graph: EditorGraph, id: string, componentKey: string): EditorGraph =>
  change(graph, id, (node) => ({ ...node, componentKey }));

export const setTitle = (graph: EditorGraph, id: string, title: string): EditorGraph =>
  change(graph, id, ({ displayName: _, ...node }) => (title === '' ? node : { ...node, displayName: title }));

export const setDisabled = (graph: EditorGraph, id: string, disabled: boolean): EditorGraph =>
  change(graph, id, (node) => ({ ...node, disabled }));

/** An output that is called otherwise afterwards takes its edges along. */
export function setConfig(graph: EditorGraph, id: string, config: Config): EditorGraph {
  const before = graph.nodes.find((node) => node.id === id);
  if (!before) return graph;
  const next = change(graph, id, (node) => ({ ...node, config }));
  const named = (options: Config) => outputsOf({ type: before.componentType, options }).named ?? [];
  const old = named(before.config);
  const now = named(config);
  const [gone, ...moreGone] = old.filter((name) => !now.includes(name));
  const [fresh, ...moreFresh] = now.filter((name) => !old.includes(name));
  if (gone === undefined || fresh === undefined || moreGone.length + moreFresh.length > 0) return next;
  return {
    ...next,
    edges: next.edges.map((edge) =>
      edge.sourceNodeId === id && edge.sourcePort === gone ? { ...edge, sourcePort: fresh } : edge,
    ),
  };
}

/** The component is from now on what the shared one says. */
export function linkShared(
  graph: EditorGraph,
  id: string,
  shared: { id: string; version: number; config: Config },
): EditorGraph {
  return change(setConfig(graph, id, shared.config), id, (node) => ({
    ...node,
    sharedComponentId: shared.id,
    sharedComponentVersion: shared.version,
  }));
}

/** It keeps the config as its own. */
export const unlinkShared = (graph: EditorGraph, id: string): EditorGraph =>
  change(graph, id, ({ sharedComponentId: _id, sharedComponentVersion: _version, ...node }) => node);
