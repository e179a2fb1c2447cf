/** Processes and the CPU seconds that they used, from /proc: nothing is found where there is no /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** `sysconf(_SC_CLK_TCK)` on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

interface ProcessStat {
  pid: number;
  parent: number;
  state: string;
  /** Seconds of the process itself, user and system. */
  own: number;
  /** Seconds of its children that ended and were waited for. */
  reaped: number;
}

export interface CpuSeconds {
  own: number;
  children: number;
}

function statOf(pid: number): ProcessStat | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The second field is in parentheses and may contain blanks; fields[0] is the third, the state.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const seconds = (...indexes: number[]) =>
    indexes.reduce((sum, index) => sum + Number(fields[index]), 0) / TICKS_PER_SECOND;
  return {
    pid,
    parent: Number(fields[1]),
    state: fields[0] ?? '',
    own: seconds(11, 12),
    reaped: seconds(13, 14),
  };
}

function allProcesses(): ProcessStat[] {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return [];
  }
  return names
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat !== null);
}

/** Direct and indirect children that are alive, the nearest first. */
function descendantsIn(processes: readonly ProcessStat[], pid: number): ProcessStat[] {
  const children = processes.filter(({ parent }) => parent === pid);
  return [...children, ...children.flatMap((child) => descendantsIn(processes, child.pid))];
}

export function descendantsOf(pid: number): number[] {
  return descendantsIn(allProcesses(), pid).map((one) => one.pid);
}

/** Direct children that are alive; a zombie has ended. */
export function childrenOf(pid: number): number[] {
  return allProcesses()
    .filter(({ parent, state }) => parent === pid && state !== 'Z')
    .map((one) => one.pid);
}

export function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
  } catch {
    return '';
  }
}

/** What a process and all that it started has used so far. Children that detached from it are missing. */
export function cpuOf(pid: number): CpuSeconds {
  const processes = allProcesses();
  const self = processes.find((one) => one.pid === pid);
  if (!self) return { own: 0, children: 0 };
  const living = descendantsIn(processes, pid).reduce((sum, one) => sum + one.own + one.reaped, 0);
  return { own: self.own, children: self.reaped + living };
}

export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
