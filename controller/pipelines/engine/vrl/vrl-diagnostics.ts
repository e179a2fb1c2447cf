/** What the VRL compiler says of a program, with places in the text that was written. */
import type { CompilationDiagnostic } from '@bpinternal/verel';
import { type EngineView, fromBytes, positionAt } from '../engine-view.ts';

export interface VrlDiagnostic {
  severity: 'error' | 'warning' | 'note';
  /** Of VRL's list of errors. */
  code: number | null;
  message: string;
  /** Lines and columns count from 1; the end is behind the last character. */
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  hint: string;
}

const MESSAGE_CHARS = 1_000;
const SEVERITIES: Record<string, VrlDiagnostic['severity']> = {
  error: 'error',
  bug: 'error',
  warning: 'warning',
};
const NOTES: Record<string, string> = {
  SeeErrorDocs: 'see https://errors.vrl.dev/#handling',
  CoerceValue: 'coerce the value to the required type with a function such as to_bool or to_int',
};
/** Labels that tell what to do, and not what is wrong. */
const ADVICE = /^(?:did you mean|expected one of:|or change this|help:|remove this)/;

/** A place in a program, in UTF-16 units of what the engine sees of it. */
export interface Span {
  start: number;
  end: number;
}

export function positionOf(
  written: string,
  view: EngineView,
  { start, end }: Span,
): Pick<VrlDiagnostic, 'line' | 'column' | 'endLine' | 'endColumn'> {
  const from = positionAt(written, view.written(start));
  const to = positionAt(written, view.written(Math.max(start, end)));
  return { ...from, endLine: to.line, endColumn: to.column };
}

export function spanOf(view: EngineView, [start, end]: readonly [number, number]): Span {
  return { start: fromBytes(view.text, start), end: fromBytes(view.text, end) };
}

/** The labels with the one that matters first. */
export function labelsOf({ labels }: CompilationDiagnostic): CompilationDiagnostic['labels'] {
  return [...labels].sort((a, b) => Number(b.primary) - Number(a.primary));
}

export function diagnosticOf(
  written: string,
  view: EngineView,
  diagnostic: CompilationDiagnostic,
): VrlDiagnostic {
  const labels = labelsOf(diagnostic);
  const texts = labels.map(({ message }) => message).filter((text) => text !== '');
  const advised = texts.findIndex((text) => ADVICE.test(text));
  const wrong = advised < 0 ? texts : texts.slice(0, advised);
  const advice = advised < 0 ? [] : texts.slice(advised).map((text) => text.replace(/^help: /, ''));
  const notes = diagnostic.notes.map(({ message, note_type: type }) => message || (NOTES[type] ?? ''));
  const hint = advice.join(' ') || notes.find((text) => text !== '') || '';
  return {
    severity: SEVERITIES[diagnostic.severity] ?? 'note',
    code: diagnostic.code || null,
    message: [diagnostic.message, wrong.join('; ')].filter(Boolean).join(': ').slice(0, MESSAGE_CHARS),
    ...positionOf(written, view, spanOf(view, labels[0]?.span ?? [0, 0])),
    hint: (hint || `see https://errors.vrl.dev/${diagnostic.code}`).slice(0, MESSAGE_CHARS),
  };
}
