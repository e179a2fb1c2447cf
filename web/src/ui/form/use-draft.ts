/** What a form that stays on its page shows while what is stored changes: by others, and after an old cache. */
import { useRef, useState } from 'react';
import type { DraftOf } from './draft-fields.tsx';

export interface StoredDraft<D extends object> extends DraftOf<D> {
  /** Something is typed that is not what is stored. */
  isChanged: boolean;
  /** Around what sends the draft: notes what is sent. */
  sending: <F extends (...args: never[]) => unknown>(send: F) => F;
  /** Forgets what was typed and sent: after a save, once the cache has what was saved. What was typed meanwhile stays. */
  reset: () => void;
}

/** What was typed lies over what is stored. Fields are compared as JSON: `stored` may be another object at each render. */
export function useDraft<D extends object>(stored: D): StoredDraft<D> {
  const [typed, setTyped] = useState<Partial<D>>({});
  const sent = useRef<D | null>(null);
  const names = Object.keys(typed) as (keyof D)[];
  const changed = names.filter((name) => JSON.stringify(typed[name]) !== JSON.stringify(stored[name]));
  const over = Object.fromEntries(changed.map((name) => [name, typed[name]])) as Partial<D>;
  // A field that has become what is stored follows it from now on.
  if (changed.length < names.length) setTyped(over);
  const draft = { ...stored, ...over };
  return {
    draft,
    set: (change) => setTyped((before) => ({ ...before, ...change })),
    isChanged: changed.length > 0,
    sending: <F extends (...args: never[]) => unknown>(send: F) =>
      ((...args) => {
        sent.current = draft;
        return send(...args);
      }) as F,
    reset: () => {
      const known = sent.current;
      setTyped((now) => (known === null ? {} : withoutSame(now, known)));
    },
  };
}

/** The fields that differ. */
const withoutSame = <D extends object>(typed: Partial<D>, sent: D): Partial<D> =>
  Object.fromEntries(
    Object.entries(typed).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(sent[name as keyof D]),
    ),
  ) as Partial<D>;
