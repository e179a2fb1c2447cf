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

/** Bytes of the largest memory that the process ever held. */
export function peakMemory(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(text)?.[1] ?? Number.NaN) * 1024;
}

/** The process and those that it started. */
export function processAndChildren(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.map(Number)];
}

/** CPU milliseconds of a process and its children, those that have ended included; as precise as the kernel's ticks. */
export function cpuMsOfTree(pid: number): number {
  return processAndChildren(pid).reduce((sum, one) => sum + ticks(one) * MS_PER_TICK, 0);
}

const MS_PER_TICK = 10;

/** Its own and, where it has waited for them, those of its children. */
function ticks(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // utime, stime, cutime, cstime: the fields 14 to 17; the second one, the name, may hold spaces.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0);
  } catch {
    return 0;
  }
}

/** Bytes of a process and its children; what they share counts once. */
export function sharedOutMemory(pid: number): number {
  return processAndChildren(pid).reduce((sum, one) => {
    try {
      return sum + memoryOf(one, 'Pss');
    } catch {
      return sum;
    }
  }, 0);
}
