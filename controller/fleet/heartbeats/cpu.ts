/** How busy a host is, from counters that only grow. Pure. */

export interface CpuSample {
  /** Milliseconds since 1970. */
  at: number;
  /** Seconds of all processors since the host began: the whole, and that of it in which nothing was to do. */
  total: number;
  idle: number;
  /** The busy share since the sample before, 0 to 100; null where there is none. */
  percent: number | null;
}

/** Counters have steps of 10 ms: reports that follow each other closely say nothing. */
const APART_MS = 1_000;

/** Null for a host that does not tell. Smaller counters than before are those of a host that began anew. */
export function nextCpuSample(
  host: Readonly<Record<string, number>>,
  at: number,
  before: CpuSample | null,
): CpuSample | null {
  const { cpuSecondsTotal: total, cpuSecondsIdle: idle } = host;
  if (total === undefined || idle === undefined) return null;
  if (!before) return { at, total, idle, percent: null };
  if (at - before.at < APART_MS) return before;
  const [spent, unused] = [total - before.total, idle - before.idle];
  if (spent <= 0 || unused < 0) return { at, total, idle, percent: null };
  return { at, total, idle, percent: Math.max(0, 100 * (1 - unused / spent)) };
}
