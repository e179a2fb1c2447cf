import { useEffect, useRef, useState } from 'react';

export interface Outcome<T> {
  item: T;
  state: 'waiting' | 'working' | 'done' | 'failed';
  error?: unknown;
}

export interface Batch<T> {
  outcomes: readonly Outcome<T>[];
  isRunning: boolean;
  /** Tries those that are not done yet; answers how each came out. */
  start: () => Promise<readonly Outcome<T>[]>;
}

interface Options {
  /** How many at a time. */
  atOnce?: number;
  /** What is done to them: when it is another thing than before, earlier outcomes are forgotten. */
  choice?: string;
}

/**
 * Does the same to several things: what fails hurts no other one. Closing the form ends it: what was not begun is
 * left as it is. The items may become others before it starts.
 */
export function useBatch<T extends { id: string }>(
  items: readonly T[],
  run: (item: T) => Promise<unknown>,
  { atOnce = 1, choice = '' }: Options = {},
): Batch<T> {
  const [known, setKnown] = useState<{ choice: string; byId: ReadonlyMap<string, Outcome<T>> }>({
    choice,
    byId: new Map(),
  });
  const [isRunning, setRunning] = useState(false);
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const byId = known.choice === choice ? known.byId : new Map<string, Outcome<T>>();
  const outcomes = items.map((item): Outcome<T> => byId.get(item.id) ?? { item, state: 'waiting' });
  const start = async (): Promise<readonly Outcome<T>[]> => {
    setRunning(true);
    let now: readonly Outcome<T>[] = outcomes;
    const set = (index: number, outcome: Outcome<T>): void => {
      now = now.with(index, outcome);
      setKnown({ choice, byId: new Map(now.map((each) => [each.item.id, each])) });
    };
    const left = [...now.entries()].filter(([, { state }]) => state !== 'done');
    const work = async (): Promise<void> => {
      for (let next = left.shift(); next && !isGone.current; next = left.shift()) {
        const [index, { item }] = next;
        set(index, { item, state: 'working' });
        try {
          await run(item);
          set(index, { item, state: 'done' });
        } catch (error) {
          set(index, { item, state: 'failed', error });
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    setRunning(false);
    return now;
  };
  return { outcomes, isRunning, start };
}
