/** The state of the editor with everything that its parts do to it. */
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { queries } from '../../api/queries/index.ts';
import { IN_PLACE, putParam, useAddress } from '../../app/search-params.ts';
import { type Change, type Editor, type Focus, newId } from './editor-context.ts';
import { type PanelName, panelNamed } from './inspector/side-panels.tsx';
import {
  type EditorState,
  graphOf,
  reduce,
  type Selection,
  selectedNode,
  startEditor,
} from './model/editor-state.ts';
import { editorGraph } from './model/graph.ts';
import type { Problem } from './model/problems.ts';

/** How long it is said why something was not done. */
const REFUSAL_MS = 8_000;
const NO_PROBLEMS: readonly Problem[] = [];

export interface GraphEditorState {
  state: EditorState;
  editor: Editor;
  /** Null for what is shown unless somebody chooses. */
  panel: PanelName | null;
  show: (panel: PanelName) => void;
  /** Why the last thing was not done; empty when all was. */
  refusal: string;
  undo: () => void;
  redo: () => void;
  load: (pipeline: Pick<Pipeline, 'nodes' | 'edges' | 'globalConfig' | 'graphRevision'>) => void;
  saved: (graph: Editor['graph'], revision: number) => void;
  focusOn: (focus: Focus | null) => void;
  /** A text in a field that is no value yet; empty when there is none. */
  draftProblem: () => string;
}

function begin(pipeline: Pipeline, component: string | null): EditorState {
  const state = startEditor(editorGraph(pipeline, newId), pipeline.graphRevision);
  const node = graphOf(state).nodes.find(({ componentKey }) => componentKey === component);
  return node ? reduce(state, { type: 'select', next: { nodes: [node.id], edges: [] } }) : state;
}

/** `problems` are those of what is drawn. Which component is selected and which panel is shown stand in the address. */
export function useGraphEditor(
  pipeline: Pipeline,
  readOnly: boolean,
): GraphEditorState & { withProblems: (problems: readonly Problem[] | undefined) => Editor } {
  const [params, changeAddress] = useAddress();
  const [state, dispatch] = useReducer(reduce, null, () => begin(pipeline, params.get('component')));
  const [focus, focusOn] = useState<Focus | null>(null);
  const [refusal, refuse] = useState('');
  const drafts = useRef(new Map<string, string>());
  const sharedList = useQuery(queries.sharedComponents(pipeline.environmentId));
  const shared = useMemo(
    () => new Map((sharedList.data ?? []).map((component) => [component.id, component])),
    [sharedList.data],
  );
  const graph = graphOf(state);

  useEffect(() => {
    if (refusal === '') return;
    const timer = setTimeout(() => refuse(''), REFUSAL_MS);
    return () => clearTimeout(timer);
  }, [refusal]);

  const [panel, show] = useState(() => panelNamed(params.get('panel')));
  const selectedKey = selectedNode(state)?.componentKey ?? null;
  const written = params.toString();
  // In one place: of two changes of the address at one time, the second would undo the first.
  useEffect(() => {
    const wanted = new URLSearchParams();
    putParam(wanted, 'component', selectedKey ?? '');
    putParam(wanted, 'panel', panel ?? '');
    if (wanted.toString() === written) return;
    changeAddress((next) => {
      for (const name of [...next.keys()]) next.delete(name);
      for (const [name, value] of wanted) next.set(name, value);
    }, IN_PLACE);
  }, [selectedKey, panel, written, changeAddress]);

  const change = useCallback(({ word, burst, change: apply, select }: Change): void => {
    refuse('');
    dispatch({ type: 'change', word, burst, change: apply, select, at: performance.now() });
  }, []);
  const select = useCallback(
    (next: Selection | ((before: Selection) => Selection)): void => dispatch({ type: 'select', next }),
    [],
  );
  const onDraft = useCallback((pointer: string, message: string): void => {
    if (message === '') drafts.current.delete(pointer);
    else drafts.current.set(pointer, message);
  }, []);

  const editor = useMemo(
    (): Editor => ({
      pipelineId: pipeline.id,
      environmentId: pipeline.environmentId,
      graph,
      selection: state.selection,
      readOnly,
      problems: NO_PROBLEMS,
      shared,
      focus,
      change,
      select,
      refuse,
      onDraft,
    }),
    [
      pipeline.id,
      pipeline.environmentId,
      graph,
      state.selection,
      readOnly,
      shared,
      focus,
      change,
      select,
      onDraft,
    ],
  );
  return {
    state,
    editor,
    // An empty canvas says itself what it lacks.
    withProblems: (problems) => (problems && graph.nodes.length > 0 ? { ...editor, problems } : editor),
    panel,
    show,
    refusal,
    undo: () => dispatch({ type: 'undo' }),
    redo: () => dispatch({ type: 'redo' }),
    load: (theirs) =>
      dispatch({ type: 'loaded', graph: editorGraph(theirs, newId), revision: theirs.graphRevision }),
    saved: (sent, revision) => dispatch({ type: 'saved', graph: sent, revision }),
    focusOn,
    draftProblem: () => [...drafts.current.values()][0] ?? '',
  };
}
