/** YAML to read, and the difference of two texts. Loaded only where one is shown. */
import { yaml } from '@codemirror/lang-yaml';
import { foldGutter } from '@codemirror/language';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { codeLook } from './code-theme.ts';

/** @param firstLine The number of the first line, where the text is a part of another. */
const reading = (label: string, firstLine = 1): Extension => [yaml(), foldGutter(), plain(label, firstLine)];

const plain = (label: string, firstLine: number): Extension => [
  codeLook,
  lineNumbers({ formatNumber: (line) => String(line + firstLine - 1) }),
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

/** Text of another language, with the numbers of its lines in the file that it is a part of. */
export const PlainView = ({ text, label, firstLine }: { text: string; label: string; firstLine: number }) => {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!host.current) return;
    const view = new EditorView({ doc: text, extensions: plain(label, firstLine), parent: host.current });
    return () => view.destroy();
  }, [text, label, firstLine]);
  return <div ref={host} className="code code-frame" />;
};

interface DiffProps {
  before: string;
  after: string;
  beforeLabel: string;
  afterLabel: string;
  layout: 'unified' | 'split';
  /** Numbers of the first lines, where the texts are parts of others. */
  beforeLine?: number;
  afterLine?: number;
}

export const YamlDiff = ({
  before,
  after,
  beforeLabel,
  afterLabel,
  layout,
  beforeLine,
  afterLine,
}: DiffProps) => {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parent = host.current;
    if (!parent) return;
    const collapseUnchanged = { margin: 3, minSize: 6 };
    if (layout === 'split') {
      const view = new MergeView({
        a: { doc: before, extensions: reading(beforeLabel, beforeLine) },
        b: { doc: after, extensions: reading(afterLabel, afterLine) },
        parent,
        collapseUnchanged,
        gutter: true,
      });
      return () => view.destroy();
    }
    const view = new EditorView({
      doc: after,
      extensions: [
        reading(afterLabel, afterLine),
        unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged }),
      ],
      parent,
    });
    return () => view.destroy();
  }, [before, after, beforeLabel, afterLabel, layout, beforeLine, afterLine]);
  return <div ref={host} className="code code-frame" />;
};
