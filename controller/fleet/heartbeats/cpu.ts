/** Computes how busy a host is from counters that only grow. Pure. */

export interface CpuSample {
  /** Milliseconds since 1970. */
  at: number;
  /** CPU seconds of all processors since the host started: in total, and idle. */
  total: number;
  idle: number;
  /** The busy share since the previous sample, 0 to 100; null if there is none. */
  percent: number | null;
}

/** Counters advance in steps of 10 ms, so samples closer than this are useless. */
const MIN_INTERVAL_MS = 1_000;

/** Null if the host does not report the counters. Smaller counters than before mean that the host restarted. */
export function nextCpuSample(
  host: Readonly<Record<string, number>>,
  at: number,
  before: CpuSample | null,
): CpuSample | null {
  const { cpuSecondsTotal: total, cpuSecondsIdle: idle } = host;
  if (total === undefined || idle === undefined) return null;
  if (!before) return { at, total, idle, percent: null };
  if (at - before.at < MIN_INTERVAL_MS) return before;
  const [spent, unused] = [total - before.total, idle - before.idle];
  if (spent <= 0 || unused < 0) return { at, total, idle, percent: null };
  return { at, total, idle, percent: Math.max(0, 100 * (1 - unused / spent)) };
}
