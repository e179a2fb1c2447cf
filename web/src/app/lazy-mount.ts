import { useRef } from 'react';

/**
 * True from the first time on that it was. What is loaded when it is first opened stays in the page afterwards, so that
 * it closes as dialogs do, and gives the focus back.
 */
export function useEver(now: boolean): boolean {
  const ever = useRef(false);
  ever.current ||= now;
  return ever.current;
}
