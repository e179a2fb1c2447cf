/** The same signal may come twice for one key press: from the terminal, and from make, which passes it on. */
const ONE_PRESS_MS = 500;

/** Settles with SIGTERM, SIGINT or SIGHUP. A second, later one ends the process at once. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (askedAt !== null && performance.now() - askedAt > ONE_PRESS_MS) process.exit(1);
        askedAt ??= performance.now();
        resolve();
      });
    }
  });
}
