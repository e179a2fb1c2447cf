/** What the editor holds: the drawing with its history, what is selected, and which drawing is saved. */

import { type EditorEdge, type EditorGraph, type EditorNode, edgeKey } from './graph.ts';
import { type History, record, redo, startHistory, undo } from './history.ts';

export interface Selection {
  /** Ids of components. */
  nodes: readonly string[];
  /** `edgeKey`s. */
  edges: readonly string[];
}

export interface EditorState {
  history: History<EditorGraph>;
  selection: Selection;
  /** The very object that was saved last: undoing back to it is "nothing to save". */
  saved: EditorGraph;
  /** The server's number of it. */
  revision: number;
}

export type Action =
  | {
      type: 'change';
      word: string;
      burst?: string;
      at: number;
      change: (graph: EditorGraph) => EditorGraph;
      /** What is selected afterwards; as before where it is left out. */
      select?: Selection;
    }
  | { type: 'select'; next: Selection | ((before: Selection) => Selection) }
  | { type: 'undo' }
  | { type: 'redo' }
  /** `graph` is what was sent: the drawing may have changed while it was. */
  | { type: 'saved'; graph: EditorGraph; revision: number }
  /** Loads another graph, with an empty history. */
  | { type: 'loaded'; graph: EditorGraph; revision: number };

export const NOTHING: Selection = { nodes: [], edges: [] };

export const startEditor = (graph: EditorGraph, revision: number): EditorState => ({
  history: startHistory(graph),
  selection: NOTHING,
  saved: graph,
  revision,
});

export const graphOf = (state: EditorState): EditorGraph => state.history.present.state;
export const isDirty = (state: EditorState): boolean => graphOf(state) !== state.saved;

export function reduce(state: EditorState, action: Action): EditorState {
  switch (action.type) {
    case 'change': {
      const next = action.change(graphOf(state));
      const history = record(state.history, next, action);
      return selecting({ ...state, history }, action.select ?? state.selection);
    }
    case 'select':
      return selecting(state, typeof action.next === 'function' ? action.next(state.selection) : action.next);
    case 'undo':
      return selecting({ ...state, history: undo(state.history) }, state.selection);
    case 'redo':
      return selecting({ ...state, history: redo(state.history) }, state.selection);
    case 'saved':
      return { ...state, saved: action.graph, revision: action.revision };
    case 'loaded':
      return selecting(startEditor(action.graph, action.revision), state.selection);
  }
}

/** Without what is no longer there; the same object where nothing changed. */
function selecting(state: EditorState, wanted: Selection): EditorState {
  const { nodes, edges } = graphOf(state);
  const ids = new Set(nodes.map(({ id }) => id));
  const keys = new Set(edges.map(edgeKey));
  const selection = {
    nodes: wanted.nodes.filter((id) => ids.has(id)),
    edges: wanted.edges.filter((key) => keys.has(key)),
  };
  const { selection: before } = state;
  const same = isSame(before.nodes, selection.nodes) && isSame(before.edges, selection.edges);
  return same ? state : { ...state, selection };
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);

/** The one component that is selected; undefined where there is none or several. */
export function selectedNode({ selection, ...state }: EditorState): EditorNode | undefined {
  const [id] = selection.nodes;
  if (selection.nodes.length !== 1 || selection.edges.length > 0) return undefined;
  return state.history.present.state.nodes.find((node) => node.id === id);
}

/** The one edge that is selected, where no component is. */
export function selectedEdge({ selection, ...state }: EditorState): EditorEdge | undefined {
  if (selection.edges.length !== 1 || selection.nodes.length > 0) return undefined;
  return state.history.present.state.edges.find((edge) => edgeKey(edge) === selection.edges[0]);
}
