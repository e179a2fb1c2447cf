import { readdirSync, readFileSync } from 'node:fs';
import { sep } from 'node:path';
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import { LIMITS } from '../../limits.ts';
import type { Logger } from '../../log.ts';
import type { DataDirectory } from '../files/data-directory.ts';
import { killAfterMs } from './drain.ts';
import { signalGroup } from './engine-process.ts';

/** A process. Its start, in clock ticks since boot, distinguishes it from a later one with the same pid. */
interface Orphan {
  pid: number;
  startTicks: string;
}

/**
 * Engines that a killed agent left behind. They name config files of this very data directory on their command line,
 * and only one agent may hold the directory: so they are ours, and nothing has to be remembered on disk.
 */
export function findOrphans(directory: DataDirectory): Orphan[] {
  const orphans: Orphan[] = [];
  for (const name of processNames()) {
    const pid = Number(name);
    if (pid === process.pid || !runsOurConfig(pid, directory)) continue;
    const startTicks = startOf(pid);
    if (startTicks !== undefined) orphans.push({ pid, startTicks });
  }
  return orphans;
}

/** Stops them as any engine is stopped: SIGTERM, the time that it was given to drain, SIGKILL. Resolves when their ports are free. */
export async function stopOrphans(directory: DataDirectory, clock: Clock, log: Logger): Promise<void> {
  let left = findOrphans(directory);
  if (left.length === 0) return;
  log.warn('stopping engines that an earlier run left behind', { count: left.length });
  for (const { pid } of left) signalGroup(pid, 'SIGTERM');
  const killAt = clock.monotonic() + Math.max(...left.map(({ pid }) => stopLimitMs(pid)));
  while (left.length > 0) {
    await new Promise<void>((done) => {
      clock.after(50, done);
    });
    left = left.filter(({ pid, startTicks }) => startOf(pid) === startTicks);
    if (clock.monotonic() < killAt) continue;
    for (const { pid } of left) signalGroup(pid, 'SIGKILL');
    if (clock.monotonic() > killAt + 5_000) return;
  }
}

/** The limit that the agent which started it gave it, by its environment. */
function stopLimitMs(pid: number): number {
  const limit = /(?:^|\0)VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS=(\d{1,3})(?:\0|$)/.exec(
    read(`/proc/${pid}/environ`) ?? '',
  )?.[1];
  return limit === undefined ? LIMITS.gracefulStopMs : killAfterMs({ drainSeconds: Number(limit) });
}

function processNames(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/**
 * The command line ends with `--config <pipeline> --config <its sidecar>` of this directory, or with the two files of a
 * config check.
 */
function runsOurConfig(pid: number, directory: DataDirectory): boolean {
  const words = read(`/proc/${pid}/cmdline`)?.split('\0') ?? [];
  if (words.at(-1) === '') words.pop();
  const [first, config, second, sidecar] = words.slice(-4);
  if (first === 'validate') return second?.startsWith(directory.checks + sep) === true;
  return (
    first === '--config' &&
    second === '--config' &&
    config?.startsWith(directory.pipelines + sep) === true &&
    sidecar?.startsWith(config) === true
  );
}

/** Field 22 of `/proc/<pid>/stat`; undefined for a process that has ended, a zombie included. */
export function startOf(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The second field is the program's name in brackets and may itself hold spaces and brackets.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields?.[0] === 'Z' ? undefined : fields?.[19];
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
