/** Where components stand: sizes, a layout from left to right, and a place that covers nothing. */
import { graphlib, layout } from '@dagrejs/dagre';
import { type Port, portsOf } from '../model/connect.ts';
import type { EditorGraph } from '../model/graph.ts';

/** Pixels of the canvas at full size, as the style sheet draws components. */
export const NODE_WIDTH = 200;
export const HEAD_HEIGHT = 56;
export const PORT_HEIGHT = 22;

const GAP_X = 90;
const GAP_Y = 32;
const CLEAR = 16;
const MAX_TRIES = 400;

export interface Size {
  width: number;
  height: number;
}
export type Box = Size & { x: number; y: number };

/** Named outputs stand below one another. */
export function sizeOf(ports: readonly Port[]): Size {
  const rows = ports.filter(({ name }) => name !== undefined).length;
  return { width: NODE_WIDTH, height: HEAD_HEIGHT + rows * PORT_HEIGHT + (rows > 0 ? 6 : 0) };
}

/** A place for every component, sources at the left. */
export function arrange(graph: EditorGraph): Map<string, { x: number; y: number }> {
  const drawing = new graphlib.Graph();
  drawing.setGraph({ rankdir: 'LR', nodesep: GAP_Y, ranksep: GAP_X, marginx: 0, marginy: 0 });
  drawing.setDefaultEdgeLabel(() => ({}));
  const sizes = new Map(graph.nodes.map((node) => [node.id, sizeOf(portsOf(node, graph.edges))]));
  for (const [id, size] of sizes) drawing.setNode(id, { ...size });
  for (const edge of graph.edges) drawing.setEdge(edge.sourceNodeId, edge.targetNodeId);
  layout(drawing);
  return new Map(
    [...sizes].map(([id, { width, height }]) => {
      const { x, y } = drawing.node(id);
      return [id, { x: Math.round(x - width / 2), y: Math.round(y - height / 2) }];
    }),
  );
}

const covers = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width + CLEAR &&
  b.x < a.x + a.width + CLEAR &&
  a.y < b.y + b.height + CLEAR &&
  b.y < a.y + a.height + CLEAR;

/** The wanted place, or the next free one below it. */
export function freePlace(
  taken: readonly Box[],
  wanted: { x: number; y: number },
  size: Size,
): { x: number; y: number } {
  let { y } = wanted;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const box = { x: wanted.x, y, ...size };
    const other = taken.find((each) => covers(each, box));
    if (!other) break;
    y = other.y + other.height + CLEAR;
  }
  return { x: wanted.x, y };
}

/** Components that a text brought in are moved off those that were there. */
export function placeNew(graph: EditorGraph, known: ReadonlySet<string>): EditorGraph {
  if (!graph.nodes.some(({ id }) => known.has(id))) {
    const places = arrange(graph);
    return {
      ...graph,
      nodes: graph.nodes.map((node) => {
        const place = places.get(node.id);
        return place ? { ...node, positionX: place.x, positionY: place.y } : node;
      }),
    };
  }
  const boxOf = (node: EditorGraph['nodes'][number]): Box => ({
    x: node.positionX,
    y: node.positionY,
    ...sizeOf(portsOf(node, graph.edges)),
  });
  const taken = graph.nodes.filter(({ id }) => known.has(id)).map(boxOf);
  const nodes = graph.nodes.map((node) => {
    if (known.has(node.id)) return node;
    const box = boxOf(node);
    const { x, y } = freePlace(taken, box, box);
    taken.push({ ...box, x, y });
    return { ...node, positionX: x, positionY: y };
  });
  return { ...graph, nodes };
}
