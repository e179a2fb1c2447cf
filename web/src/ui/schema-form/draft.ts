/** A text in a field that is no value yet: undo takes it back first, before anything that was done. */
import type { KeyboardEvent } from 'react';

export function takesBack(event: KeyboardEvent, problem: string, restore: () => void): void {
  const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'z';
  if (!isUndo || problem === '') return;
  event.preventDefault();
  event.stopPropagation();
  restore();
}
