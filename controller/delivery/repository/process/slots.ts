/** Limits concurrent work. Work that takes longer than `longMs` gives its slot to others and goes on. */
export interface Slots {
  use<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createSlots(count: number, longMs: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  const release = () => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };

  async function enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        waiting.splice(waiting.indexOf(admit), 1);
        reject(signal.reason);
      };
      const admit = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      waiting.push(admit);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  return {
    async use(work, signal) {
      await enter(signal);
      let held = true;
      const releaseOnce = () => {
        if (held) release();
        held = false;
      };
      const timer = setTimeout(releaseOnce, longMs);
      try {
        return await work();
      } finally {
        clearTimeout(timer);
        releaseOnce();
      }
    },
  };
}
