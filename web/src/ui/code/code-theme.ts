import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { styleNonce } from '../../app/security/nonce.ts';

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-key)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
]);

const frame = EditorView.theme({
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
  // The colours of the language are not readable on the marks.
  '.cm-changedText, .cm-changedText span, .cm-deletedText, .cm-deletedText span': { color: 'var(--text)' },
  '.cm-collapsedLines': { background: 'var(--raised)', color: 'var(--text-2)' },
  // The default mark is a glyph that common fonts lack.
  '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: '"⋯"' },
  '.cm-foldPlaceholder': { background: 'var(--raised)', border: '0', color: 'var(--text-2)' },
  // The library's own colours are those of a light page.
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, .cm-content ::selection': {
    background: 'var(--accent-weak)',
  },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'var(--hover)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { background: 'var(--raised)', outline: '0' },
  '.cm-tooltip': {
    border: '1px solid var(--border)',
    borderRadius: 'var(--radius)',
    background: 'var(--surface)',
    color: 'var(--text)',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip-autocomplete > ul > li': { color: 'var(--text)', fontFamily: 'var(--mono)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--accent-weak)',
    color: 'var(--accent-text)',
  },
  '.cm-completionInfo': { maxWidth: '320px', padding: '6px 10px', color: 'var(--text-2)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--failed-fill)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--held-fill)' },
  '.cm-diagnostic-info': { borderLeftColor: 'var(--moving-fill)' },
});

/** Colours and measures of every text of code, of the scheme in use. */
export const codeLook: Extension = [syntaxHighlighting(colours), frame, EditorView.cspNonce.of(styleNonce)];
