/**
 * Credentials in the text of a Fluentd configuration, for readers who may not change it and for the assistant. Lines stay lines,
 * so that numbers of lines hold.
 */
import { findHiddenSpans } from './hidden-spans.ts';

const MASK = '••••••';
/** Shorter values would also hide ordinary words of a message. */
const MIN_HIDDEN = 4;
/** Messages quote no more than that of a text. */
const MAX_QUOTED = 100;

export function maskOriginal(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const { from, to } of findHiddenSpans(text)) {
    const breaks = text.slice(from, to).match(/\r?\n/g) ?? [];
    parts.push(text.slice(at, from), MASK, ...breaks.map((lineBreak) => `${lineBreak}${MASK}`));
    at = to;
  }
  return parts.join('') + text.slice(at);
}

/** The values that `maskOriginal` hides, the longest first: messages about the text must not quote them. */
export function listHidden(text: string): string[] {
  const hidden = new Set<string>();
  for (const { from, to } of findHiddenSpans(text)) {
    for (const line of text.slice(from, to).split('\n')) {
      const plain = line.trim();
      for (const value of [plain, plain.replace(/^\\?["']|\\?["']$/g, ''), ...stringsIn(plain)]) {
        for (const one of [value, value.slice(0, MAX_QUOTED)]) if (one.length >= MIN_HIDDEN) hidden.add(one);
      }
    }
  }
  return [...hidden].sort((a, b) => b.length - a.length);
}

const stringsIn = (line: string): string[] =>
  (line.match(/"(?:[^"\\]|\\.)*"/g) ?? []).map((quoted) => quoted.slice(1, -1));

/** A message about the original without the values that it hides. */
export function withoutHidden(message: string, hidden: readonly string[]): string {
  return hidden.reduce((text, value) => text.replaceAll(value, MASK), message);
}
