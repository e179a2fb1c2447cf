/** What was done, to be undone and done again. States are kept as they are: nothing may change one in place. */

interface Step<T> {
  state: T;
  /** What led from the state before it to this one, such as `Delete parse`. */
  word: string;
}

export interface History<T> {
  past: readonly Step<T>[];
  present: Step<T>;
  /** The nearest first. */
  future: readonly Step<T>[];
  burst: { key: string; at: number } | null;
}

export interface Change {
  word: string;
  /** Changes with one key that follow closely are one step, as the letters of a word are. */
  burst?: string;
  /** Milliseconds of any steady clock. */
  at: number;
}

export const MAX_STEPS = 200;
export const BURST_MS = 1_000;

export const startHistory = <T>(state: T): History<T> => ({
  past: [],
  present: { state, word: '' },
  future: [],
  burst: null,
});

export function record<T>(history: History<T>, state: T, { word, burst, at }: Change): History<T> {
  if (state === history.present.state) return history;
  const last = history.burst;
  const joins = burst !== undefined && last?.key === burst && at - last.at <= BURST_MS;
  return {
    past: joins ? history.past : [...history.past, history.present].slice(-MAX_STEPS),
    present: { state, word },
    future: [],
    burst: burst === undefined ? null : { key: burst, at },
  };
}

export function undo<T>(history: History<T>): History<T> {
  const before = history.past.at(-1);
  if (!before) return history;
  return {
    past: history.past.slice(0, -1),
    present: before,
    future: [history.present, ...history.future],
    burst: null,
  };
}

export function redo<T>(history: History<T>): History<T> {
  const [next, ...rest] = history.future;
  if (!next) return history;
  return { past: [...history.past, history.present], present: next, future: rest, burst: null };
}

/** What undo would take back; null when there is nothing. */
export const undoWord = (history: History<unknown>): string | null =>
  history.past.length > 0 ? history.present.word : null;

export const redoWord = (history: History<unknown>): string | null => history.future[0]?.word ?? null;
