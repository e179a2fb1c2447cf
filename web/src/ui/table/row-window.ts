/** Which rows are in the document, and how the keyboard walks them. */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

const VIRTUAL_FROM = 200;
export const ROW_PX = 36;
/** Before the window has been measured. */
const FIRST_ROWS = 40;

export interface RowWindow {
  body: RefObject<HTMLTableSectionElement | null>;
  /** The document holds only the rows from `first` to `last`. */
  isVirtual: boolean;
  first: number;
  last: number;
  /** Of the row that has the focus. */
  focusedIndex: () => number | undefined;
  focusNext: (step: number) => void;
}

export function useRowWindow(count: number): RowWindow {
  const body = useRef<HTMLTableSectionElement>(null);
  const isVirtual = count >= VIRTUAL_FROM;
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    if (body.current) setOffset(body.current.getBoundingClientRect().top + window.scrollY);
  }, []);
  const virtualizer = useWindowVirtualizer({
    count: isVirtual ? count : 0,
    estimateSize: () => ROW_PX,
    overscan: 12,
    scrollMargin: offset,
  });
  const items = virtualizer.getVirtualItems();
  const focusedIndex = (): number | undefined => {
    const row = document.activeElement?.closest<HTMLElement>('tr[data-index]');
    return row && body.current?.contains(row) ? Number(row.dataset.index) : undefined;
  };
  const focusNext = (step: number): void => {
    const from = focusedIndex() ?? (step > 0 ? -1 : count);
    const to = Math.min(Math.max(from + step, 0), count - 1);
    if (isVirtual) virtualizer.scrollToIndex(to);
    const focus = (): void => {
      const row = body.current?.querySelector<HTMLElement>(`tr[data-index="${to}"]`);
      const link = row?.querySelector<HTMLElement>('a.row-link');
      (link ?? row?.querySelector<HTMLElement>('a, button'))?.focus();
    };
    if (isVirtual) requestAnimationFrame(focus);
    else focus();
  };
  return {
    body,
    isVirtual,
    first: isVirtual ? (items[0]?.index ?? 0) : 0,
    last: isVirtual ? (items.at(-1)?.index ?? Math.min(FIRST_ROWS, count - 1)) : count - 1,
    focusedIndex,
    focusNext,
  };
}
