/** YAML to read, and the difference of two texts. Loaded only where one is shown. */
import { yaml } from '@codemirror/lang-yaml';
import { foldGutter, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-key)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
]);

const look = EditorView.theme({
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-gutters': { background: 'none', color: 'var(--text-3)', border: 'none' },
  '.cm-changedLine, &.cm-merge-b .cm-changedLine, .cm-inlineChangedLine': {
    backgroundColor: 'var(--ok-weak)',
  },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--failed-weak)' },
  '.cm-changedText, &.cm-merge-b .cm-changedText': {
    background: 'color-mix(in srgb, var(--ok-fill) 35%, transparent)',
  },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'color-mix(in srgb, var(--failed-fill) 35%, transparent)',
  },
  '.cm-collapsedLines': { background: 'var(--raised)', color: 'var(--text-2)' },
  // The default mark is a glyph that common fonts lack.
  '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: '"⋯"' },
  '.cm-foldPlaceholder': { background: 'var(--raised)', border: '0', color: 'var(--text-2)' },
});

const reading = (label: string): Extension => [
  yaml(),
  syntaxHighlighting(colours),
  lineNumbers(),
  foldGutter(),
  look,
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  EditorView.contentAttributes.of({
    'aria-label': label,
    tabindex: '0',
    role: 'textbox',
    'aria-readonly': 'true',
    'aria-multiline': 'true',
  }),
  EditorView.lineWrapping,
];

export const YamlView = ({ text, label }: { text: string; label: string }) => {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!host.current) return;
    const view = new EditorView({ doc: text, extensions: reading(label), parent: host.current });
    return () => view.destroy();
  }, [text, label]);
  return <div ref={host} className="code code-frame" />;
};

interface DiffProps {
  before: string;
  after: string;
  beforeLabel: string;
  afterLabel: string;
  layout: 'unified' | 'split';
}

export const YamlDiff = ({ before, after, beforeLabel, afterLabel, layout }: DiffProps) => {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parent = host.current;
    if (!parent) return;
    const collapseUnchanged = { margin: 3, minSize: 6 };
    if (layout === 'split') {
      const view = new MergeView({
        a: { doc: before, extensions: reading(beforeLabel) },
        b: { doc: after, extensions: reading(afterLabel) },
        parent,
        collapseUnchanged,
        gutter: true,
      });
      return () => view.destroy();
    }
    const view = new EditorView({
      doc: after,
      extensions: [
        reading(afterLabel),
        unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged }),
      ],
      parent,
    });
    return () => view.destroy();
  }, [before, after, beforeLabel, afterLabel, layout]);
  return <div ref={host} className="code code-frame" />;
};
