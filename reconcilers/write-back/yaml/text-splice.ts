/** Pieces of a text that are put in place of others, and the lines that they stand in. */
import type { Document } from 'yaml';

export interface Source {
  text: string;
  document: Document.Parsed;
  /** How lines end here. */
  eol: string;
  /** How far a level is indented, and whether dashes are, in this file. */
  step: number;
  indentSeq: boolean;
}

export interface Splice {
  from: number;
  to: number;
  text: string;
}

export const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;
/** Behind the end of the line. */
export const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
};
export const columnOf = (text: string, at: number): number => at - lineStart(text, at);
export const isFirstOnLine = (text: string, at: number): boolean =>
  /^[ \t]*$/.test(text.slice(lineStart(text, at), at));
export const indented = (lines: readonly string[], columns: number): string[] =>
  lines.map((line) => (line === '' ? '' : ' '.repeat(columns) + line));

export function apply(text: string, splices: readonly Splice[]): string {
  let out = text;
  for (const { from, to, text: put } of splices.toSorted((a, b) => b.from - a.from || b.to - a.to))
    out = out.slice(0, from) + put + out.slice(to);
  return out;
}

/** Whole lines at the beginning of a line, or at the end of a text that may lack its last line break. */
export function linesAt({ text, eol }: Source, at: number, lines: readonly string[], closed = false): Splice {
  const open = at > 0 && !text.slice(0, at).endsWith('\n');
  const body = lines.join(eol);
  return { from: at, to: at, text: open ? `${eol}${body}${closed ? eol : ''}` : `${body}${eol}` };
}
