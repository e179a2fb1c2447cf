/** The notes on the screen. At most three are shown; the next ones wait for a place. Pure, apart from its subscribers. */
import type { Tone } from '../primitives/tone.ts';

export interface Note {
  id: number;
  text: string;
  action?: { word: string; run: () => void };
  tone: Tone;
}

const MAX_SHOWN = 3;

export function createNotes() {
  const subscribers = new Set<() => void>();
  let all: Note[] = [];
  let shown: readonly Note[] = [];
  let nextId = 1;
  const update = (next: Note[]) => {
    all = next;
    shown = next.slice(0, MAX_SHOWN);
    for (const notify of subscribers) notify();
  };
  return {
    add: (note: Omit<Note, 'id'>) => update([...all, { ...note, id: nextId++ }]),
    remove: (id: number) => update(all.filter((note) => note.id !== id)),
    /** The same array until something changes. */
    list: () => shown,
    subscribe(notify: () => void) {
      subscribers.add(notify);
      return () => subscribers.delete(notify);
    },
  };
}
