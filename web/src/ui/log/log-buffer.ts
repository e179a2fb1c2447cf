/**
 * The lines that a page holds, oldest first. Pages of the server come newest first and may overlap with what is
 * there; lines differ by `seq`, which grows with each stored line.
 */
import type { LogLevel, LogLine, LogPage } from '../../../../schemas/api/fleet/logs.ts';
import { plainText } from './log-text.ts';

export interface ShownLine {
  seq: string;
  at: Date;
  level: LogLevel;
  node: string;
  pipeline: string;
  text: string;
}

export interface LogBuffer {
  readonly lines: readonly ShownLine[];
  /** Cursor of the lines before the first; null when there are none. */
  readonly older: string | null;
  /** Lines after the last were left out: only going to the newest shows them. */
  readonly behind: boolean;
}

export const EMPTY_BUFFER: LogBuffer = { lines: [], older: null, behind: false };

/** A page holds this many lines at most; what is beyond is read again when it is scrolled to. */
export const MAX_LINES = 10_000;

/** Numbers as text: without leading zeros the longer one is the larger. */
export const isAfter = (a: string, b: string): boolean =>
  a.length === b.length ? a > b : a.length > b.length;

const shown = (line: LogLine): ShownLine => ({
  seq: line.seq,
  at: line.receivedAt,
  level: line.level,
  node: line.nodeName ?? line.nodeId,
  pipeline: line.pipelineName ?? line.pipelineId,
  text: plainText(line.line),
});

const oldestFirst = (page: LogPage): ShownLine[] => page.lines.map(shown).reverse();

/** As if nothing had been there: the newest page alone. */
export const newestOnly = (page: LogPage): LogBuffer => ({
  lines: oldestFirst(page),
  older: page.nextCursor,
  behind: false,
});

/**
 * Takes in what is new. `follow` drops the oldest lines for it; without, a reader's place may not move, so a full
 * buffer takes nothing more. Answers how many lines were new.
 */
export function withNewer(
  buffer: LogBuffer,
  page: LogPage,
  follow: boolean,
): { buffer: LogBuffer; added: number } {
  const last = buffer.lines.at(-1);
  if (!last) return { buffer: newestOnly(page), added: page.lines.length };
  // Several controllers may store at once: a smaller number can come a moment after a larger one.
  const known = new Set(buffer.lines.slice(-page.lines.length * 2).map(({ seq }) => seq));
  const first = buffer.lines[0] ?? last;
  const fresh = oldestFirst(page).filter(({ seq }) => !known.has(seq) && isAfter(seq, first.seq));
  if (fresh.length === 0) return { buffer, added: 0 };
  if (!follow && buffer.lines.length + fresh.length > MAX_LINES) {
    return { buffer: { ...buffer, behind: true }, added: fresh.length };
  }
  const late = fresh.some(({ seq }) => isAfter(last.seq, seq));
  const lines = [...buffer.lines, ...fresh];
  if (late) lines.sort((a, b) => (isAfter(a.seq, b.seq) ? 1 : -1));
  const kept = lines.slice(-MAX_LINES);
  const older = kept.length < lines.length ? (kept[0]?.seq ?? null) : buffer.older;
  return { buffer: { lines: kept, older, behind: buffer.behind }, added: fresh.length };
}

/** Puts a page before the first line; what no longer fits is left out at the end. */
export function withOlder(buffer: LogBuffer, page: LogPage): LogBuffer {
  const first = buffer.lines[0];
  const before = oldestFirst(page).filter(({ seq }) => !first || isAfter(first.seq, seq));
  const lines = [...before, ...buffer.lines];
  return {
    lines: lines.slice(0, MAX_LINES),
    older: page.nextCursor,
    behind: buffer.behind || lines.length > MAX_LINES,
  };
}
