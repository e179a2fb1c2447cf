/** What the toolbar, the keys and the catalogue do to the drawing. */
import { useEffect, useRef } from 'react';
import { plural } from '../../../ui/text/format.ts';
import { type Editor, newId } from '../editor-context.ts';
import { NOTHING } from '../model/editor-state.ts';
import {
  addComponent,
  disconnect,
  duplicateComponents,
  moveComponents,
  type NewComponent,
  removeComponents,
} from '../model/edits.ts';
import { type EditorGraph, type EditorNode, MAX_GRAPH_NODES } from '../model/graph.ts';
import { arrange } from './layout.ts';
import { useView } from './viewport.ts';

export interface Drawing {
  add: (component: NewComponent) => void;
  remove: () => void;
  duplicate: () => void;
  arrange: () => void;
  reveal: (id: string) => void;
  /** Shows all of it. */
  fit: () => void;
}

/** `added` is called when there is a new component to look at. */
export function useDrawing(editor: Editor, added?: () => void): Drawing {
  const { graph, selection, readOnly, shared, change, refuse } = editor;
  const view = useView();
  /** Brought into sight as soon as it is drawn. */
  const fresh = useRef<string | null>(null);
  const refit = useRef(false);
  const before = useRef(graph);
  useEffect(() => {
    const isOther = !sharesComponents(before.current, graph);
    before.current = graph;
    if (refit.current || isOther) requestAnimationFrame(view.readable);
    else if (fresh.current !== null) view.reveal(graph, fresh.current);
    fresh.current = null;
    refit.current = false;
  }, [graph, view]);

  const room = (more: number): boolean => {
    if (graph.nodes.length + more <= MAX_GRAPH_NODES) return true;
    refuse(`A pipeline has at most ${MAX_GRAPH_NODES} components; split it into several.`);
    return false;
  };

  return {
    add(component) {
      if (readOnly || !room(1)) return;
      const id = newId();
      const after = graph.nodes.find((node) => node.id === selection.nodes.at(-1));
      const middle = view.middle();
      fresh.current = id;
      change({
        word: `Add ${component.type}`,
        change: (now) =>
          addComponent(now, component, id, { middle: { x: middle.x - 100, y: middle.y - 28 }, after }),
        select: { nodes: [id], edges: [] },
      });
      added?.();
    },
    remove() {
      const { nodes, edges } = selection;
      if (readOnly || nodes.length + edges.length === 0) return;
      const [only] = nodes;
      const key = graph.nodes.find(({ id }) => id === only)?.componentKey ?? '';
      const what =
        nodes.length === 1
          ? key
          : nodes.length > 1
            ? plural(nodes.length, 'component')
            : plural(edges.length, 'connection');
      change({
        word: `Delete ${what}`,
        change: (now) => removeComponents(disconnect(now, edges), nodes),
        select: NOTHING,
      });
      // What had the focus is gone; the next keys are meant for the drawing.
      document.querySelector<HTMLElement>('.editor-canvas')?.focus({ preventScroll: true });
    },
    duplicate() {
      const { nodes } = selection;
      if (readOnly || nodes.length === 0 || !room(nodes.length)) return;
      const made = duplicateComponents(graph, nodes, newId, (node) => isCurrent(shared, node));
      fresh.current = made.ids.at(-1) ?? null;
      change({
        word: `Duplicate ${plural(nodes.length, 'component')}`,
        change: () => made.graph,
        select: { nodes: made.ids, edges: [] },
      });
    },
    arrange() {
      if (readOnly) return;
      refit.current = true;
      change({ word: 'Arrange', change: (now) => moveComponents(now, arrange(now)) });
    },
    reveal: (id) => view.reveal(graph, id),
    fit: view.whole,
  };
}

/** The server takes new links to the newest version only. */
const isCurrent = (shared: Editor['shared'], node: EditorNode): boolean =>
  shared.get(node.sharedComponentId ?? '')?.version === node.sharedComponentVersion;

/** What is drawn from a text or loaded may be another drawing altogether. */
const sharesComponents = (a: EditorGraph, b: EditorGraph): boolean => {
  const ids = new Set(a.nodes.map(({ id }) => id));
  return b.nodes.length <= 1 || b.nodes.some(({ id }) => ids.has(id));
};
