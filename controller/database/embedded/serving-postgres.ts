/** From a cluster on the disk to a postmaster that answers: adopt the one that runs, or launch one. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { choosePort, keepPort } from './cluster.ts';
import { ensureDatabase, serves } from './connection.ts';
import { diskFull, EmbeddedPostgresError, portTaken, reportsDiskFull } from './embedded-postgres-error.ts';
import { tryLaunchLock } from './launch-lock.ts';
import { clusterDir, type Location } from './location.ts';
import { identify, launch, readPidFile, removeStalePidFile, stopPostmaster } from './postmaster.ts';

const RETRY_MS = 20;
const MAX_PORTS = 5;
/** Our processes hold the lock for moments; a holder for longer is another program. */
const LOCK_PATIENCE_MS = 5_000;
/** Asked to end by somebody: the polite way waits until every client has left by itself, and ours do not. */
const SMART_SHUTDOWN_MS = 500;

/** For a small machine. Commits are durable (fsync and synchronous_commit stay on). */
const SETTINGS: Record<string, string> = {
  shared_buffers: '128MB',
  max_connections: '100',
  huge_pages: 'off',
  io_method: 'sync',
  jit: 'off',
  // No replica and no archive reads this log: backups are taken through SQL.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  TimeZone: 'UTC',
  log_timezone: 'UTC',
  // Values of rows and statements stay out of the log.
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

export interface Start {
  /** Where its log is written. */
  dataDir: string;
  password: string;
  log: (message: string) => void;
  settings?: Record<string, string>;
  /** The only one that will do, since somebody holds its address already; absent: a free one. */
  port?: number;
  /** Milliseconds since the epoch. */
  deadline: number;
  /** Gives up, and ends what it was about to start. */
  signal?: AbortSignal;
}

export interface Running {
  pid: number;
  port: number;
  /** Whether it ran already. */
  adopted: boolean;
}

/** Until our database is there. A postmaster adopted while somebody else ends it is not the one to stay with. */
export async function serving(location: Location, start: Start): Promise<Running> {
  const cluster = clusterDir(location);
  for (;;) {
    const running = await adoptOrLaunch(location, start);
    try {
      await ensureDatabase(running.port, start.password);
      return running;
    } catch (error) {
      const file = await readPidFile(cluster);
      const ending = running.adopted && (file?.pid !== running.pid || file.status !== 'ready');
      if (!ending && !running.adopted) await stopPostmaster(running.pid, cluster);
      if (!ending || Date.now() > start.deadline) throw error;
      await sleep(RETRY_MS);
    }
  }
}

async function adoptOrLaunch(location: Location, start: Start): Promise<Running> {
  const cluster = clusterDir(location);
  const since = Date.now();
  let takenPort: number | undefined;
  for (let ports = 0; ports < MAX_PORTS; ) {
    start.signal?.throwIfAborted();
    const live = await adopt(location, start);
    if (live) return live;
    const unlock = await tryLaunchLock(cluster);
    if (!unlock && Date.now() - since < LOCK_PATIENCE_MS) {
      await sleep(RETRY_MS);
      continue;
    }
    try {
      const outcome = await launchOnce(location, start, takenPort);
      if ('pid' in outcome) return outcome;
      takenPort = outcome.takenPort;
      if (takenPort !== undefined) ports += 1;
    } finally {
      unlock?.();
    }
    if (takenPort === undefined) await sleep(RETRY_MS * 5);
  }
  throw new EmbeddedPostgresError('Every port tried for PostgreSQL on 127.0.0.1 was taken: start again');
}

/** Without a port that was taken: somebody else is about to start or to end, and is to be looked at again. */
async function launchOnce(
  location: Location,
  start: Start,
  avoid: number | undefined,
): Promise<Running | { takenPort: number | undefined }> {
  const cluster = clusterDir(location);
  const logFile = join(start.dataDir, 'postgres.log');
  if (await removeStalePidFile(cluster))
    start.log('removed the pid file of a PostgreSQL that ended unexpectedly');
  const port = start.port ?? (await choosePort(location, avoid));
  const args = commandLineSettings(port, start.settings);
  const launched = await launch(location, {
    args,
    logFile,
    deadline: start.deadline,
    ...(start.signal && { signal: start.signal }),
  });
  if (launched.ready) {
    if (start.port === undefined) await keepPort(location, port);
    return { pid: launched.pid, port, adopted: false };
  }
  if (/Address already in use/.test(launched.output)) {
    if (start.port !== undefined) throw portTaken(port);
    return { takenPort: port };
  }
  // Another starter was faster, or backends of a killed postmaster are about to end.
  const held = /lock file .* already exists|pre-existing shared memory block/.test(launched.output);
  if (!held || Date.now() > start.deadline) throw launchError(cluster, logFile, launched.output);
  return { takenPort: undefined };
}

/** Takes over a live postmaster of this cluster; one that is starting or ending is waited for. */
async function adopt(location: Location, start: Start): Promise<Running | undefined> {
  const cluster = clusterDir(location);
  const since = Date.now();
  for (;;) {
    start.signal?.throwIfAborted();
    const file = await readPidFile(cluster);
    if (!file || (await identify(file.pid, cluster)) !== 'ours') return undefined;
    if (file.status === 'ready' && (await serves(cluster, file.port, start.password))) {
      if (start.port !== undefined && file.port !== start.port) throw movedAway(file.port, start.port);
      return { pid: file.pid, port: file.port, adopted: true };
    }
    if (file.status === 'stopping' && Date.now() - since > SMART_SHUTDOWN_MS) {
      await stopPostmaster(file.pid, cluster);
    }
    if (Date.now() > start.deadline) {
      throw new EmbeddedPostgresError(
        `PostgreSQL (process ${file.pid}) runs on ${cluster} and answers nobody: end it with kill -INT ${file.pid} and start again`,
      );
    }
    await sleep(RETRY_MS);
  }
}

function movedAway(port: number, expected: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `PostgreSQL was started on port ${port} meanwhile, and this process knows it on ${expected}: start this process again`,
  );
}

function launchError(cluster: string, logFile: string, output: string): EmbeddedPostgresError {
  if (reportsDiskFull(output)) return diskFull(cluster);
  return new EmbeddedPostgresError(`PostgreSQL did not start; see ${logFile}. Its last lines: ${output}`);
}

function commandLineSettings(port: number, overrides: Record<string, string> = {}): string[] {
  // What we rely on comes last and wins: loopback only, at a port that we know.
  const fixed = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '' };
  return Object.entries({ ...SETTINGS, ...overrides, ...fixed }).flatMap(([name, value]) => {
    if (!/^[A-Za-z_][\w.]*$/.test(name))
      throw new EmbeddedPostgresError(`${name} is not a PostgreSQL setting: remove it`);
    return ['-c', `${name}=${value}`];
  });
}
