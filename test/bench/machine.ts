/** The machine that the figures come from, and what the kernel tells of a process on it (Linux). */
import { readdirSync, readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';

/** One line; `load` tells whether something else kept the machine busy. */
export function describeMachine(): string {
  const processors = cpus();
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GB`;
  const load = loadavg()[0]?.toFixed(2);
  return `${processors.length} × ${processors[0]?.model.trim()}, ${memory}, Linux ${release()}, Node ${process.versions.node}, load ${load} at the start`;
}

/** CPU milliseconds that the process's living threads have used. */
export function cpuMs(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      // The thread has ended since.
    }
  }
  return nanoseconds / 1e6;
}

/** Bytes of one line of smaps_rollup, such as `Rss` or `Private_Dirty`. */
export function memoryOf(pid: number, name: string): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN) * 1024;
}
