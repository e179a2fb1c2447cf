/** Time as a parameter, so that long limits can be tested without waiting for them. */
export interface Clock {
  /** Wall time in milliseconds since 1970. For what is shown and what is stored. */
  now(): number;
  /** Milliseconds that never jump. For measurements and limits. */
  monotonic(): number;
  /** Runs `task` once after `ms`; the returned function cancels it. A waiting timer does not keep the process alive. */
  after(ms: number, task: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    timer.unref?.();
    return () => clearTimeout(timer);
  },
};

/** A clock that moves only by `advance`. */
export interface ManualClock extends Clock {
  /** Moves the time by `ms` and runs what falls due, in order of time. */
  advance(ms: number): void;
  /** Milliseconds until the next timer; null where none waits. */
  nextIn(): number | null;
}

export function manualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  let elapsed = 0;
  let waiting: { at: number; task: () => void }[] = [];
  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    after(ms, task) {
      const entry = { at: elapsed + ms, task };
      waiting.push(entry);
      return () => {
        waiting = waiting.filter((other) => other !== entry);
      };
    },
    advance(ms) {
      const until = elapsed + ms;
      for (;;) {
        const due = waiting.filter((entry) => entry.at <= until).sort((a, b) => a.at - b.at)[0];
        if (!due) break;
        waiting = waiting.filter((entry) => entry !== due);
        elapsed = Math.max(elapsed, due.at);
        due.task();
      }
      elapsed = until;
    },
    nextIn: () => (waiting.length === 0 ? null : Math.min(...waiting.map(({ at }) => at)) - elapsed),
  };
}
