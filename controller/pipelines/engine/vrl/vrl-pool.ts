/** Threads with VRL in them, a few at most. Each does one thing at a time, and goes when nobody has needed it for a while. */
import { VrlThread } from './vrl-thread.ts';

/** A thread holds some 100 MB. */
const IDLE_MS = 60_000;

export interface VrlPool {
  /** How many wait for a thread. */
  readonly waiting: number;
  /** Waits for its turn. A thread that ends while it works is not used again. */
  use<T>(work: (thread: VrlThread) => Promise<T>): Promise<T>;
  stop(): void;
}

export function createVrlPool(threads: number): VrlPool {
  const idle: { thread: VrlThread; expiry: NodeJS.Timeout }[] = [];
  const running = new Set<VrlThread>();
  const turns: (() => void)[] = [];
  let stopped = false;

  function takeThread(): VrlThread {
    const ready = idle.pop();
    clearTimeout(ready?.expiry);
    const thread = ready && !ready.thread.ended ? ready.thread : new VrlThread();
    running.add(thread);
    return thread;
  }

  function giveBack(thread: VrlThread): void {
    running.delete(thread);
    if (stopped) thread.end('the controller is stopping');
    else if (!thread.ended) {
      const expiry = setTimeout(() => {
        idle.splice(idle.indexOf(entry), 1);
        thread.end('it was not used');
      }, IDLE_MS).unref();
      const entry = { thread, expiry };
      idle.push(entry);
    }
    turns.shift()?.();
  }

  return {
    get waiting() {
      return turns.length;
    },
    async use(work) {
      while (running.size >= threads) await new Promise<void>((resolve) => turns.push(resolve));
      const thread = takeThread();
      try {
        return await work(thread);
      } finally {
        giveBack(thread);
      }
    },
    stop() {
      stopped = true;
      for (const { thread, expiry } of idle.splice(0)) {
        clearTimeout(expiry);
        thread.end('the controller is stopping');
      }
      for (const thread of running) thread.end('the controller is stopping');
    },
  };
}
