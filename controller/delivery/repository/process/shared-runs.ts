/** Concurrent calls with one key share one run. It is aborted once no caller waits for it any more. */
export interface SharedRuns<R> {
  join(key: string, run: (signal: AbortSignal) => Promise<R>, signal: AbortSignal): Promise<R>;
}

interface Shared<R> {
  result: Promise<R>;
  waiting: number;
  end: AbortController;
}

export function createSharedRuns<R>(): SharedRuns<R> {
  const running = new Map<string, Shared<R>>();

  function begin(key: string, run: (signal: AbortSignal) => Promise<R>): Shared<R> {
    const end = new AbortController();
    const result = run(end.signal).finally(() => {
      if (running.get(key) === shared) running.delete(key);
    });
    result.catch(() => {});
    const shared: Shared<R> = { result, waiting: 0, end };
    running.set(key, shared);
    return shared;
  }

  return {
    async join(key, run, signal) {
      signal.throwIfAborted();
      const known = running.get(key);
      const shared = known && !known.end.signal.aborted ? known : begin(key, run);
      shared.waiting += 1;
      const given = Promise.withResolvers<never>();
      const giveUp = () => {
        // The last caller waits until the run has ended, so that no process outlives its callers.
        if (shared.waiting > 1) given.reject(signal.reason);
        else shared.end.abort(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      try {
        return await Promise.race([shared.result, given.promise]);
      } finally {
        signal.removeEventListener('abort', giveUp);
        shared.waiting -= 1;
      }
    },
  };
}
