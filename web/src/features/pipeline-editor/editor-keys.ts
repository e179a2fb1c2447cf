/** The keys of the editor, wherever on the page the focus is. */
import { useEffect, useRef } from 'react';

export interface EditorKeys {
  undo: () => void;
  redo: () => void;
  save: () => void;
  remove: () => void;
  duplicate: () => void;
}

const isText = (target: Element | null): boolean =>
  target instanceof HTMLInputElement
    ? !['checkbox', 'radio', 'button'].includes(target.type)
    : target instanceof HTMLTextAreaElement ||
      target instanceof HTMLSelectElement ||
      (target instanceof HTMLElement && target.isContentEditable);

/** A text that is edited has its own undo, whose steps are letters; search fields have nothing of the drawing. */
const hasOwnUndo = (target: Element | null): boolean =>
  target?.closest('.cm-editor') !== null || (target instanceof HTMLInputElement && target.type === 'search');

/** Elsewhere the key may be meant for a button or a field. */
const isOnCanvas = (target: Element | null): boolean =>
  target === document.body || Boolean(target?.closest('.editor-canvas'));

export function useEditorKeys(keys: EditorKeys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (document.querySelector('[role="dialog"]')) return;
      const target = event.target instanceof Element ? event.target : null;
      const run = (action: keyof EditorKeys): void => {
        event.preventDefault();
        current.current[action]();
      };
      const key = event.key.toLowerCase();
      if ((event.ctrlKey || event.metaKey) && !event.altKey) {
        if (key === 's') run('save');
        else if ((key === 'z' || key === 'y') && hasOwnUndo(target)) return;
        else if (key === 'y' || (key === 'z' && event.shiftKey)) run('redo');
        else if (key === 'z') run('undo');
        else if (key === 'd' && !isText(target)) run('duplicate');
        return;
      }
      if ((event.key === 'Delete' || event.key === 'Backspace') && isOnCanvas(target)) run('remove');
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
