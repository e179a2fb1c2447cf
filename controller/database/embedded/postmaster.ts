import { execFile, spawn } from 'node:child_process';
import { open, readFile, readlink, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { binaryPath, spawnOptions } from './binaries.ts';
import { EmbeddedPostgresError, withFiles } from './embedded-postgres-error.ts';
import { clusterDir, type Location } from './location.ts';

const run = promisify(execFile);

const POLL_MS = 3;
const LOG_LIMIT_BYTES = 10 * 1024 * 1024;
const LOG_TAIL_BYTES = 4096;
const FAST_SHUTDOWN_MS = 20_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;

/** What a postmaster writes about itself into its data directory. */
export interface PidFile {
  pid: number;
  port: number;
  status: string;
  raw: string;
}

export async function readPidFile(cluster: string): Promise<PidFile | undefined> {
  const raw = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => undefined);
  if (raw === undefined) return undefined;
  // Lines: pid, data directory, start time, port, socket folder, listen address, shared memory key, status.
  const lines = raw.split('\n');
  return { pid: Number(lines[0]), port: Number(lines[3]), status: (lines[7] ?? '').trim(), raw };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Whose process a pid is: a postmaster of this cluster, certainly another one, gone, or unknown. */
export type Identity = 'ours' | 'other' | 'gone' | 'unknown';

export async function identify(pid: number, cluster: string): Promise<Identity> {
  if (!Number.isInteger(pid) || pid <= 1) return 'gone';
  if (!isAlive(pid)) return 'gone';
  const argv = await commandLine(pid);
  if (argv === undefined) return isAlive(pid) ? 'unknown' : 'gone';
  if (argv.length === 0) return 'other'; // a zombie, which Postgres would take for a live one
  if (basename(argv[0] ?? '') !== 'postgres') return 'other';
  if (argv[argv.indexOf('-D') + 1] === cluster) return 'ours';
  // Started by hand with another spelling of the path: a postmaster's working folder is its data directory.
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  if (folder === undefined) return 'unknown';
  return folder === cluster ? 'ours' : 'other';
}

async function commandLine(pid: number): Promise<string[] | undefined> {
  const raw = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  if (raw !== undefined) return raw.split('\0').filter(Boolean);
  if (process.platform === 'linux') return undefined;
  // Without /proc the arguments arrive joined; Postgres itself then separates a path with spaces.
  const listed = await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => undefined);
  return listed?.stdout.trim().split(' ').filter(Boolean);
}

/**
 * Removes the pid file of a dead postmaster whose pid now belongs to somebody else: Postgres would take that process for
 * its own kind and refuse to start. A file whose process is gone is left to Postgres, which also looks for orphaned backends.
 */
export async function removeStalePidFile(cluster: string): Promise<boolean> {
  const found = await readPidFile(cluster);
  if (!found || (await identify(found.pid, cluster)) !== 'other') return false;
  if ((await readPidFile(cluster))?.raw !== found.raw) return false;
  await rm(join(cluster, 'postmaster.pid'), { force: true });
  return true;
}

/** How a launch ended: accepting connections, or dead with the last lines of its log. */
export type Launch = { ready: true; pid: number } | { ready: false; output: string };

/**
 * Starts a postmaster in a session of its own, so that neither a terminal's Ctrl-C nor our own end reaches it, and
 * waits until it is ready. Past `deadline` (ms since the epoch), or once `signal` gives it up, it is ended again and an
 * error thrown.
 */
export async function launch(
  location: Location,
  options: { args: string[]; logFile: string; deadline: number; signal?: AbortSignal },
): Promise<Launch> {
  const cluster = clusterDir(location);
  const log = await withFiles(options.logFile, async () => {
    await rotate(options.logFile);
    return open(options.logFile, 'a', 0o600);
  });
  let ended: string | undefined;
  try {
    const from = (await log.stat()).size;
    const child = spawn(binaryPath(location.binaries, 'postgres'), ['-D', cluster, ...options.args], {
      ...spawnOptions(location.binaries, location.user),
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    child.once('error', (error) => {
      ended = error.message;
    });
    child.once('exit', (code, signal) => {
      ended = `exit ${code ?? signal}`;
    });
    child.unref();
    for (;;) {
      if (ended !== undefined) return { ready: false, output: (await tail(options.logFile, from)) || ended };
      const file = await readPidFile(cluster);
      if (child.pid && file?.pid === child.pid && file.status === 'ready')
        return { ready: true, pid: child.pid };
      if (options.signal?.aborted) {
        if (child.pid) await stopPostmaster(child.pid, cluster);
        throw options.signal.reason;
      }
      if (Date.now() > options.deadline) {
        if (child.pid) await stopPostmaster(child.pid, cluster, { fastMs: 0 });
        throw new EmbeddedPostgresError(
          `PostgreSQL did not get ready in time; see ${options.logFile}. Its last lines: ` +
            ((await tail(options.logFile, from)) || '(none)'),
        );
      }
      await sleep(POLL_MS);
    }
  } finally {
    await log.close();
  }
}

/**
 * Ends a postmaster: fast shutdown (open transactions are rolled back), then an immediate one. Answers when it is gone.
 * A process that is not this cluster's is left alone.
 */
export async function stopPostmaster(
  pid: number,
  cluster: string,
  { fastMs = FAST_SHUTDOWN_MS }: { fastMs?: number } = {},
): Promise<void> {
  for (const [signal, ms] of [
    ['SIGINT', fastMs],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
  ] as const) {
    if ((await identify(pid, cluster)) !== 'ours') return;
    process.kill(pid, signal);
    const deadline = Date.now() + ms;
    do {
      await sleep(POLL_MS);
      if ((await identify(pid, cluster)) !== 'ours') return;
    } while (Date.now() < deadline);
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL (process ${pid}) does not end: look at it, then kill it by hand`,
  );
}

/** The log is bounded at each start: a large one becomes `.1`, in place of the one before. */
async function rotate(path: string): Promise<void> {
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  );
  if (size > LOG_LIMIT_BYTES) await rename(path, `${path}.1`);
}

/** The last lines written after `from`, in one line. */
async function tail(path: string, from: number): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined);
  if (!file) return '';
  try {
    const { size } = await file.stat();
    const start = Math.max(from, size - LOG_TAIL_BYTES);
    if (size <= start) return '';
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    const lines = buffer.toString('utf8', 0, bytesRead).trim().split('\n');
    return lines.slice(-6).join(' | ');
  } finally {
    await file.close();
  }
}
