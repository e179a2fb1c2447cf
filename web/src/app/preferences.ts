/** Small choices that stay on this machine. Where storage is blocked they last as long as the page. */
import { useSyncExternalStore } from 'react';

const PREFIX = 'headgate.';
const memory = new Map<string, string>();
const listeners = new Set<() => void>();

export type PreferenceKey = 'rail' | 'environment' | 'single-keys' | 'diff' | 'log-wrap';

export function readPreference(key: PreferenceKey): string | null {
  try {
    return localStorage.getItem(PREFIX + key) ?? memory.get(key) ?? null;
  } catch {
    return memory.get(key) ?? null;
  }
}

export function writePreference(key: PreferenceKey, value: string): void {
  memory.set(key, value);
  try {
    localStorage.setItem(PREFIX + key, value);
  } catch {
    // Blocked or full: the value in memory serves this page.
  }
  for (const listener of listeners) listener();
}

export const usePreference = (key: PreferenceKey): string | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => readPreference(key),
  );
