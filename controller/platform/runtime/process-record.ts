/**
 * A running process, remembered in a file so that a later start finds it again. Its pid alone would not do: pids are used
 * again, so the time at which it started goes with it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

/** Replaces the file; `exclusive` throws EEXIST instead. */
export function recordProcess(file: string, pid: number, { exclusive = false } = {}): void {
  writeFileSync(file, `${pid} ${startOf(pid) ?? ''}\n`, { mode: 0o600, flag: exclusive ? 'wx' : 'w' });
}

/** The pid of the process in the file while it runs; null when it has ended or there is none. */
export function runningProcess(file: string): number | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return null;
  }
  const [, digits = '', start = ''] = /^(\d{1,10}) (.+)\n$/.exec(text) ?? [];
  const pid = Number(digits);
  return pid > 0 && startOf(pid) === start ? pid : null;
}

/**
 * Keeps the file for this process until the answer is called. Answers the pid of a process that keeps it already instead.
 */
export function holdFile(file: string): (() => void) | number {
  for (;;) {
    try {
      recordProcess(file, process.pid, { exclusive: true });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const other = runningProcess(file);
    if (other !== null) return other;
    rmSync(file, { force: true });
  }
}

/** When a process started, in the system's own words; null for one that has ended, a zombie included. */
export function startOf(pid: number): string | null {
  return process.platform === 'linux' ? startInTicks(pid) : startByPs(pid);
}

/** Field 22 of `/proc/<pid>/stat`. The second, the program's name in brackets, may itself hold spaces and brackets. */
function startInTicks(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

function startByPs(pid: number): string | null {
  try {
    const answer = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' });
    const [state = '', ...start] = answer.trim().split(/\s+/);
    return state.startsWith('Z') ? null : start.join(' ') || null;
  } catch {
    return null;
  }
}
