import type { Clock } from './clock.ts';

export interface Coalescer {
  note(key: string): void;
  /** Drops what has not run yet. */
  stop(): void;
}

/** Runs `run` once for all notes of a key that come within `delayMs` of the first. */
export function createCoalescer(options: {
  clock: Clock;
  delayMs: number;
  run(key: string): void;
}): Coalescer {
  const pending = new Map<string, () => void>();
  return {
    note(key) {
      if (pending.has(key)) return;
      const cancel = options.clock.after(options.delayMs, () => {
        pending.delete(key);
        options.run(key);
      });
      pending.set(key, cancel);
    },
    stop() {
      for (const cancel of pending.values()) cancel();
      pending.clear();
    },
  };
}
