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

/**
 * Does the same to several things, `atOnce` of them at a time: what fails hurts no other one. Whoever closes the form ends
 * it: what was not begun is left as it is.
 */
export function useBatch<T>(items: readonly T[], run: (item: T) => Promise<unknown>, atOnce = 1): Batch<T> {
  const [outcomes, setOutcomes] = useState<readonly Outcome<T>[]>(() =>
    items.map((item) => ({ item, state: 'waiting' })),
  );
  const [isRunning, setRunning] = useState(false);
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const start = async (): Promise<readonly Outcome<T>[]> => {
    setRunning(true);
    let now = outcomes;
    const set = (index: number, outcome: Outcome<T>): void => {
      now = now.with(index, outcome);
      setOutcomes(now);
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
