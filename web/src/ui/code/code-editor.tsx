/** A text of code to write: YAML or VRL, with what is wrong in the gutter at its place. Loaded only where one is shown. */
import {
  autocompletion,
  type CompletionSource,
  closeBrackets,
  closeBracketsKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { Annotation, Compartment, EditorState, type Extension, type Text } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import type { CodeProblem } from './code-problem.ts';
import { codeLook } from './code-theme.ts';
import { vrl } from './vrl-language.ts';

export type { CodeProblem };

export interface CodeInputProps {
  label: string;
  language: 'yaml' | 'vrl' | 'json';
  value: string;
  onChange: (value: string) => void;
  problems?: readonly CodeProblem[];
  /** Ctrl-Enter or Cmd-Enter. */
  onSubmit?: () => void;
  readOnly?: boolean;
  /** What may be written at the cursor, while it is typed and by Ctrl-Space. */
  complete?: CompletionSource;
  /** Puts text where the cursor is, for buttons beside the editor. */
  handle?: React.RefObject<CodeHandle | null>;
}

export interface CodeHandle {
  insert: (text: string) => void;
  /** Puts the cursor there and scrolls to it. */
  show: (line: number, column: number) => void;
}

/** Marks a change that `value` brought: it was not typed, and `onChange` is not called for it. */
const isBrought = Annotation.define<true>();

/** JSON is YAML's own subset, and its colours serve. */
const LANGUAGE: Record<CodeInputProps['language'], () => Extension> = { yaml, json: yaml, vrl: () => vrl };

/** Tab leaves the editor, as it leaves every field; Ctrl-] and Ctrl-[ move lines. */
export const CodeInput = ({
  label,
  language,
  value,
  onChange,
  problems = [],
  onSubmit,
  readOnly = false,
  complete,
  handle,
}: CodeInputProps) => {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const calls = useRef({ onChange, onSubmit, complete });
  calls.current = { onChange, onSubmit, complete };
  const writable = useRef(new Compartment());

  // biome-ignore lint/correctness/useExhaustiveDependencies: text and problems are brought in below, into the editor that stands.
  useEffect(() => {
    if (!host.current) return;
    const made = new EditorView({
      doc: value,
      parent: host.current,
      extensions: [
        LANGUAGE[language](),
        codeLook,
        lineNumbers(),
        lintGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ override: [(context) => calls.current.complete?.(context) ?? null], icons: false }),
        highlightActiveLine(),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        writable.current.of(EditorState.readOnly.of(readOnly)),
        keymap.of([
          {
            key: 'Mod-Enter',
            run: () => {
              calls.current.onSubmit?.();
              return calls.current.onSubmit !== undefined;
            },
          },
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          ...lintKeymap,
        ]),
        EditorView.updateListener.of((update) => {
          if (update.transactions.some((each) => each.docChanged && !each.annotation(isBrought)))
            calls.current.onChange(update.state.doc.toString());
        }),
      ],
    });
    view.current = made;
    if (handle) handle.current = handleOf(made);
    return () => {
      made.destroy();
      view.current = null;
      if (handle) handle.current = null;
    };
  }, [label, language]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: value },
      annotations: isBrought.of(true),
    });
  }, [value]);
  useEffect(() => {
    view.current?.dispatch({ effects: writable.current.reconfigure(EditorState.readOnly.of(readOnly)) });
  }, [readOnly]);
  // With the text: marks of the text before would stand at the wrong places.
  useEffect(() => {
    const editor = view.current;
    if (editor) editor.dispatch(setDiagnostics(editor.state, marks(editor.state.doc, problems)));
  }, [problems]);
  return <div ref={host} className="code code-frame code-input" />;
};

function handleOf(editor: EditorView): CodeHandle {
  return {
    insert(text) {
      editor.dispatch(editor.state.replaceSelection(text));
      editor.focus();
    },
    show(line, column) {
      editor.dispatch({
        selection: { anchor: offsetOf(editor.state.doc, line, column) },
        scrollIntoView: true,
      });
      editor.focus();
    },
  };
}

/** Places may lie beyond a text that was changed meanwhile. */
function offsetOf(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(from + Math.max(column - 1, 0), to);
}

function marks(doc: Text, problems: readonly CodeProblem[]): Diagnostic[] {
  return problems
    .map((problem): Diagnostic => {
      const from = offsetOf(doc, problem.line, problem.column);
      const end = problem.endLine && problem.endColumn;
      const to = end ? offsetOf(doc, problem.endLine ?? 1, problem.endColumn ?? 1) : wordEnd(doc, from);
      return {
        from,
        to: Math.max(from, to),
        severity: problem.severity === 'note' ? 'info' : problem.severity,
        message: problem.message,
      };
    })
    .sort((a, b) => a.from - b.from);
}

function wordEnd(doc: Text, from: number): number {
  const line = doc.lineAt(from);
  const word = /^\s*[^\s:,]+/.exec(line.text.slice(from - line.from));
  return from + (word?.[0].length ?? 0);
}
