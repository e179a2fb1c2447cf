import { useState } from 'react';

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

/** Does the same to several things, one after the other: what fails hurts no other one. */
export function useBatch<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Batch<T> {
  const [outcomes, setOutcomes] = useState<readonly Outcome<T>[]>(() =>
    items.map((item) => ({ item, state: 'waiting' })),
  );
  const [isRunning, setRunning] = useState(false);
  const start = async (): Promise<readonly Outcome<T>[]> => {
    setRunning(true);
    let now = outcomes;
    const set = (index: number, outcome: Outcome<T>): void => {
      now = now.with(index, outcome);
      setOutcomes(now);
    };
    for (const [index, { item, state }] of now.entries()) {
      if (state === 'done') continue;
      set(index, { item, state: 'working' });
      try {
        await run(item);
        set(index, { item, state: 'done' });
      } catch (error) {
        set(index, { item, state: 'failed', error });
      }
    }
    setRunning(false);
    return now;
  };
  return { outcomes, isRunning, start };
}
