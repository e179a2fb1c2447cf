/** What a form that stays on its page shows while what is stored changes: by others, and after an old cache. */
import { useState } from 'react';
import type { DraftOf } from './draft-fields.tsx';

export interface StoredDraft<D extends object> extends DraftOf<D> {
  /** Something is typed that is not what is stored. */
  isChanged: boolean;
  /** Forgets what was typed: after a save, once the cache has what was saved. */
  reset: () => void;
}

/** What was typed lies over what is stored. Fields are compared as JSON: `stored` may be another object at each render. */
export function useDraft<D extends object>(stored: D): StoredDraft<D> {
  const [typed, setTyped] = useState<Partial<D>>({});
  const names = Object.keys(typed) as (keyof D)[];
  const changed = names.filter((name) => JSON.stringify(typed[name]) !== JSON.stringify(stored[name]));
  const over = Object.fromEntries(changed.map((name) => [name, typed[name]])) as Partial<D>;
  // A field that has become what is stored follows it from now on.
  if (changed.length < names.length) setTyped(over);
  return {
    draft: { ...stored, ...over },
    set: (change) => setTyped((before) => ({ ...before, ...change })),
    isChanged: changed.length > 0,
    reset: () => setTyped({}),
  };
}
