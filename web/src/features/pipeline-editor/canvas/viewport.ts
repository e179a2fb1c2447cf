/** Which part of the drawing is in sight. Moves are smooth unless motion is not wanted. */
import { getViewportForBounds, useReactFlow } from '@xyflow/react';
import { type RefObject, useEffect, useMemo, useRef } from 'react';
import type { EditorGraph } from '../model/graph.ts';
import { NODE_WIDTH } from './layout.ts';

/** Ports closer to the edge would move the view while a line is drawn to them. */
const PADDING_PX = 56;
const MAX_ZOOM = 1;
/** Below this names cannot be read: then the drawing is shown from its sources on, and is moved instead of shrunk. */
const MIN_READABLE = 0.6;

export interface View {
  /** Everything, however small. */
  whole: () => void;
  /** Everything where that can be read, else the beginning. */
  readable: () => void;
  /** Moves only where the component is out of sight. */
  reveal: (graph: EditorGraph, id: string) => void;
  middle: () => { x: number; y: number };
}

const canvasBox = (): DOMRect | undefined =>
  document.querySelector('.editor-canvas')?.getBoundingClientRect();
const durationMs = (): number => (matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 150);

export function useView(): View {
  const flow = useReactFlow();
  return useMemo((): View => {
    const readable = (): void => {
      const canvas = canvasBox();
      const nodes = flow.getNodes();
      if (!canvas || nodes.length === 0) return;
      const { width, height } = canvas;
      const bounds = flow.getNodesBounds(nodes);
      const padding = `${PADDING_PX}px` as const;
      const { x, y, zoom } = getViewportForBounds(bounds, width, height, MIN_READABLE, MAX_ZOOM, padding);
      const fits = (size: number, room: number): boolean => size * zoom + PADDING_PX * 2 <= room + 1;
      void flow.setViewport({
        x: fits(bounds.width, width) ? x : PADDING_PX - bounds.x * zoom,
        y: fits(bounds.height, height) ? y : PADDING_PX - bounds.y * zoom,
        zoom,
      });
    };
    return {
      readable,
      whole: () =>
        void flow.fitView({ maxZoom: MAX_ZOOM, padding: `${PADDING_PX}px`, duration: durationMs() }),
      reveal(graph, id) {
        const node = graph.nodes.find((each) => each.id === id);
        const canvas = canvasBox();
        if (!node || !canvas) return;
        const zoom = flow.getZoom();
        const corner = flow.flowToScreenPosition({ x: node.positionX, y: node.positionY });
        const inside =
          corner.x > canvas.left + 8 &&
          corner.y > canvas.top + 8 &&
          corner.x + NODE_WIDTH * zoom < canvas.right - 8 &&
          corner.y + 60 * zoom < canvas.bottom - 8;
        if (inside) return;
        void flow.setCenter(node.positionX + NODE_WIDTH / 2, node.positionY + 28, {
          zoom: Math.max(zoom, MIN_READABLE),
          duration: durationMs(),
        });
      },
      middle() {
        const canvas = canvasBox();
        if (!canvas) return { x: 0, y: 0 };
        return flow.screenToFlowPosition({
          x: canvas.x + canvas.width / 2,
          y: canvas.y + canvas.height / 2,
        });
      },
    };
  }, [flow]);
}

/**
 * The drawing stays in view while its place changes its size, until somebody moves the view (`hold`) or draws; of a large
 * one the component that is selected.
 */
export function useFittingView(
  host: RefObject<HTMLElement | null>,
  graph: EditorGraph,
  selected: string | undefined,
): () => void {
  const view = useView();
  const held = useRef(false);
  const shown = useRef({ graph, selected });
  shown.current = { graph, selected };
  const first = useRef(graph);
  if (graph !== first.current) held.current = true;
  useEffect(() => {
    if (!host.current) return;
    let frame = 0;
    const observer = new ResizeObserver(() => {
      cancelAnimationFrame(frame);
      // The library measures its place at the same time.
      frame = requestAnimationFrame(() => {
        if (held.current) return;
        view.readable();
        const { graph: drawn, selected: id } = shown.current;
        if (id !== undefined) view.reveal(drawn, id);
      });
    });
    observer.observe(host.current);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
    };
  }, [view, host]);
  return () => {
    held.current = true;
  };
}
