/** What the parts of the editor share. */
import { createContext, useContext } from 'react';
import type { SharedComponent } from '../../../../schemas/api/pipelines/shared-components.ts';
import type { Selection } from './model/editor-state.ts';
import type { EditorGraph } from './model/graph.ts';
import type { Problem } from './model/problems.ts';

export interface Change {
  /** For the history, such as `Delete parse`. */
  word: string;
  /** Changes with one key that follow closely are one step. */
  burst?: string;
  change: (graph: EditorGraph) => EditorGraph;
  select?: Selection;
}

/** An option to bring into sight: another object each time, so that the same one can be asked for twice. */
export interface Focus {
  nodeId: string;
  pointer: string;
}

export interface Editor {
  pipelineId: string;
  environmentId: string;
  graph: EditorGraph;
  selection: Selection;
  readOnly: boolean;
  problems: readonly Problem[];
  /** By id. */
  shared: ReadonlyMap<string, SharedComponent>;
  focus: Focus | null;
  change: (change: Change) => void;
  select: (next: Selection | ((before: Selection) => Selection)) => void;
  /** Says why something was not done. */
  refuse: (reason: string) => void;
  onDraft: (pointer: string, message: string) => void;
}

const Context = createContext<Editor | null>(null);
export const EditorProvider = Context;

export function useEditor(): Editor {
  const editor = useContext(Context);
  if (!editor) throw new Error('useEditor is only for parts of the graph editor.');
  return editor;
}

/** For ids of components that nobody has seen before. */
export const newId = (): string => crypto.randomUUID();
