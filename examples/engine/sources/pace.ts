/** Resolves after `ms`, or at once when the signal aborts; never rejects and leaves no timer behind. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}

/** Lets timers, signals and sockets have their turn; a busy source calls it after every batch. */
export function yieldTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Calls `tick` at once and then every `intervalMs` until the signal aborts.
 * Ticks do not pile up: one that takes longer than the interval delays the next.
 */
export async function everyInterval(
  intervalMs: number,
  signal: AbortSignal,
  tick: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    const started = performance.now();
    await tick();
    await pause(Math.max(1, intervalMs - (performance.now() - started)), signal);
  }
}
