/** What a check of a pipeline says. A finding points into the definition by a JSON pointer, so that callers with the text can derive file, line and column. */
import { closest, distance } from 'fastest-levenshtein';

/** Findings reported per level; the rest follow once these are fixed. */
export const MAX_FINDINGS = 50;

export const LEVELS = ['structure', 'references', 'secrets', 'options', 'vrl', 'engine'] as const;
export type Level = (typeof LEVELS)[number];

export interface Finding {
  level: Level;
  /** JSON pointer into the definition: `/transforms/parse/source`. */
  pointer: string;
  /** Within the text at the pointer, counted from 1. */
  line?: number;
  column?: number;
  componentKey?: string;
  message: string;
  hint: string;
}

export interface LevelResult {
  level: Level;
  status: 'passed' | 'failed' | 'skipped';
  detail: string;
}

export interface CheckReport {
  findings: Finding[];
  /** Faults that refuse nothing but that the author should see. */
  warnings: Finding[];
  levels: LevelResult[];
  /** Things that the controller's checker does not know: neither an error nor confirmed. */
  unknown: string[];
}

export const didYouMean = (word: string, known: readonly string[]): string => {
  const near = known.length > 0 ? closest(word, known as string[]) : '';
  return near !== '' && distance(word, near) <= Math.max(2, word.length / 3) ? `did you mean "${near}"?` : '';
};

export function positionIn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

export function componentAt(pointer: string): { componentKey?: string } {
  const [, section, key] = pointer.split('/');
  return section !== 'global' && key !== undefined ? { componentKey: key } : {};
}
