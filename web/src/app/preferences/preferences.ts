/**
 * Small choices of a person: kept in this browser at once, and carried to the person's other browsers by
 * `preference-sync.ts`. Where storage is blocked they last as long as the page.
 */
import { useSyncExternalStore } from 'react';

const PREFIX = 'headgate.';
/** Behind a key: when it was chosen, in milliseconds since the epoch. */
const AT = '.at';
const memory = new Map<string, string>();
const listeners = new Set<(key: PreferenceKey | null) => void>();

export const FOLLOWING = ['theme', 'rail', 'single-keys', 'diff', 'log-wrap'] as const;
/** A table's columns that are hidden, by the table's name. */
export type ColumnsKey = `columns.${string}`;
export type FollowingKey = (typeof FOLLOWING)[number] | ColumnsKey;
/** `environment` is where this browser was last. */
export type PreferenceKey = FollowingKey | 'environment';

function readStored(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name) ?? memory.get(name) ?? null;
  } catch {
    return memory.get(name) ?? null;
  }
}

function writeStored(name: string, value: string): void {
  memory.set(name, value);
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // Blocked or full: the value in memory serves this page.
  }
}

export const readPreference = (key: PreferenceKey): string | null => readStored(key);

/** 0 where it is not known. */
export const chosenAt = (key: PreferenceKey): number => Number(readStored(key + AT)) || 0;

export function writePreference(key: PreferenceKey, value: string, at = Date.now()): void {
  writeStored(key, value);
  // A clock that was put back must not make the later choice the older one.
  writeStored(key + AT, String(Math.max(at, chosenAt(key) + 1)));
  tell(key);
}

/** Takes what another browser chose, with its time. */
export function takePreference(key: FollowingKey, value: string, at: number): void {
  writeStored(key, value);
  writeStored(key + AT, String(at));
  tell(null);
}

/** Whose choices this browser holds. */
export const readOwner = (): string | null => readStored('preferences-of');
export const writeOwner = (userId: string): void => writeStored('preferences-of', userId);

/** Every key that is kept here and follows the person. */
export function followingKeys(): FollowingKey[] {
  const names = new Set(memory.keys());
  try {
    for (let index = 0; index < localStorage.length; index += 1) {
      const name = localStorage.key(index) ?? '';
      if (name.startsWith(PREFIX)) names.add(name.slice(PREFIX.length));
    }
  } catch {
    // Blocked: those of the page are all there are.
  }
  return [...names].filter(isFollowing);
}

export const isFollowing = (name: string): name is FollowingKey =>
  FOLLOWING.some((key) => key === name) || (name.startsWith('columns.') && !name.endsWith(AT));

function tell(key: PreferenceKey | null): void {
  for (const listener of listeners) listener(key);
}

/** Called with the key that was chosen here, or null when a value came from elsewhere. */
export function onPreference(listener: (key: PreferenceKey | null) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Other tabs of this browser. */
window.addEventListener('storage', ({ key }) => {
  if (key?.startsWith(PREFIX)) tell(null);
});

export const usePreference = (key: PreferenceKey): string | null =>
  useSyncExternalStore(onPreference, () => readPreference(key));
