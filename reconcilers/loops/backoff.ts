/** Delays between tries: 1, 2, 4, … times the first, up to a cap. */
export function backoff(limits: { firstMs: number; capMs: number }): (failures: number) => number {
  return (failures) => Math.min(limits.capMs, limits.firstMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
}

/** A random delay between half of `ms` and `ms`, so that many that failed together do not retry together. */
export function jitter(ms: number, random: () => number = Math.random): number {
  return ms / 2 + (ms / 2) * random();
}
