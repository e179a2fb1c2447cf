import { useEffect, useRef } from 'react';
import { readPreference } from './preferences/preferences.ts';

/** `mod+k` is Ctrl or Cmd; a pair such as `g p` is typed one after the other. */
export type HotkeyMap = Record<string, (event: KeyboardEvent) => void>;

const PAIR_MS = 1_000;
/** With which every pair begins. The key after it is no key of its own for any listener. */
const PAIR_START = 'g';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

const hasDialog = (): boolean => document.querySelector('[role="dialog"]') !== null;

/** Listens on the whole page. Single keys rest while someone types, while a dialog is open, or when switched off. */
export function useHotkeys(map: HotkeyMap): void {
  const current = useRef(map);
  current.current = map;
  useEffect(() => {
    let first = '';
    let firstAt = 0;
    const onKey = (event: KeyboardEvent): void => {
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      if (event.ctrlKey || event.metaKey) {
        run(`mod+${key}`, event);
        return;
      }
      if (event.altKey || event.defaultPrevented || isTyping(event.target) || hasDialog()) return;
      if (readPreference('single-keys') === 'off') return;
      const isPair = first === PAIR_START && event.timeStamp - firstAt < PAIR_MS;
      first = isPair ? '' : key;
      firstAt = event.timeStamp;
      run(isPair ? `${PAIR_START} ${key}` : key, event);
    };
    const run = (name: string, event: KeyboardEvent): boolean => {
      const action = current.current[name];
      if (!action) return false;
      event.preventDefault();
      action(event);
      return true;
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
