/** Keeps the keyboard's place in a list of rows that are typed, when one is added or taken away. */
import { type RefObject, useEffect, useRef } from 'react';

interface RowFocus<E extends HTMLElement> {
  /** Of the element that holds the rows, each marked by `data-row`, and the button that adds one, marked by `data-add`. */
  frame: RefObject<E | null>;
  /** To be called with the change: what is added is typed into next. */
  added: () => void;
  /** The next one may be taken away as well; after the last, one may be added. */
  removed: (index: number) => void;
}

export function useRowFocus<E extends HTMLElement>(count: number): RowFocus<E> {
  const frame = useRef<E>(null);
  const wanted = useRef<{ index: number; what: 'input' | 'button' } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each row that came or went.
  useEffect(() => {
    if (!wanted.current || !frame.current) return;
    const { index, what } = wanted.current;
    wanted.current = null;
    const rows = frame.current.querySelectorAll('[data-row]');
    const target =
      rows[Math.min(index, rows.length - 1)]?.querySelector<HTMLElement>(what) ??
      frame.current.querySelector<HTMLElement>('[data-add]');
    target?.focus();
  }, [count]);
  return {
    frame,
    added: () => {
      wanted.current = { index: count, what: 'input' };
    },
    removed: (index) => {
      wanted.current = { index, what: 'button' };
    },
  };
}
