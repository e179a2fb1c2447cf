/** Processes and the CPU seconds that they used, from /proc: nothing is found where there is no /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** `sysconf(_SC_CLK_TCK)` on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

interface ProcessStat {
  pid: number;
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
    state: fields[0] ?? '',
    own: seconds(11, 12),
    reaped: seconds(13, 14),
  };
}

/** Pids of the children that each thread of a process has started: asking for the parent of every process takes longer. */
function childPids(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) => childPidsOfThread(pid, thread));
  } catch {
    return [];
  }
}

function childPidsOfThread(pid: number, thread: string): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return []; // it has ended meanwhile
  }
}

const childrenIn = (pid: number): ProcessStat[] =>
  childPids(pid)
    .map(statOf)
    .filter((stat) => stat !== null);

/** Direct and indirect children, the nearest first. */
function descendantsIn(pid: number): ProcessStat[] {
  const children = childrenIn(pid);
  return [...children, ...children.flatMap((child) => descendantsIn(child.pid))];
}

export const descendantsOf = (pid: number): number[] => descendantsIn(pid).map((one) => one.pid);

/** Direct children that are alive; a zombie has ended. */
export const childrenOf = (pid: number): number[] =>
  childrenIn(pid)
    .filter(({ state }) => state !== 'Z')
    .map((one) => one.pid);

export function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
  } catch {
    return '';
  }
}

/** What a process and all that it started has used so far. Children that detached from it are missing. */
export function cpuOf(pid: number): CpuSeconds {
  const self = statOf(pid);
  if (!self) return { own: 0, children: 0 };
  const living = descendantsIn(pid).reduce((sum, one) => sum + one.own + one.reaped, 0);
  return { own: self.own, children: self.reaped + living };
}

export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
