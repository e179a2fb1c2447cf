import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { choosePort, ensureCluster, keepPort, ROLE } from './embedded-postgres-cluster.ts';
import { diskFull, EmbeddedPostgresError, saysDiskFull, withFiles } from './embedded-postgres-error.ts';
import { clusterDir, type Location, resolveLocation } from './embedded-postgres-location.ts';
import {
  identify,
  launch,
  readPidFile,
  removeStalePidFile,
  stopPostmaster,
} from './embedded-postgres-process.ts';

export { EmbeddedPostgresError } from './embedded-postgres-error.ts';

/** A running PostgreSQL of our own; it lives on when this process dies, and the next start adopts it. */
export interface EmbeddedPostgres {
  /** Of the database `headgate`, password included: never log it. */
  url: string;
  /** Of the postmaster. */
  pid: number;
  /** Whether it was already running. */
  adopted: boolean;
  /** The folder that holds the cluster: the data directory, or its place under /var/lib/headgate. */
  location: string;
  /** Fast shutdown, then an immediate one; resolves when it is gone. May be called again. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Headgate's data directory, made when absent. */
  dataDir: string;
  log: (message: string) => void;
  /** PostgreSQL settings that win over ours; an adopted postmaster keeps those it was started with. */
  settings?: Record<string, string>;
  /** Until the first accepted connection, crash recovery included. */
  startTimeoutMs?: number;
}

const START_TIMEOUT_MS = 120_000;
const RETRY_MS = 20;
const MAX_PORTS = 5;

const WRONG_PASSWORD = '28P01';
const NO_SUCH_DATABASE = '3D000';
const DATABASE_EXISTS = ['42P04', '23505'];

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

/**
 * Starts PostgreSQL on the data directory, or adopts the one that already runs there.
 * Throws EmbeddedPostgresError with one line that says what to do.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const deadline = Date.now() + (options.startTimeoutMs ?? START_TIMEOUT_MS);
  const dataDir = await withFiles(options.dataDir, async () => {
    // Root lends the cluster to another user, which has to pass through.
    await mkdir(options.dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    return realpath(options.dataDir);
  });
  const location = await resolveLocation(dataDir, options.log);
  const password = await ensureCluster(location, { sync: options.settings?.fsync !== 'off' });
  const { pid, port, adopted } = await serving(location, { ...options, dataDir, password, deadline });
  const url = databaseUrl(port, password, ROLE);
  let stopping: Promise<void> | undefined;
  return {
    url,
    pid,
    adopted,
    location: location.dir,
    stop() {
      stopping ??= stopPostmaster(pid, clusterDir(location));
      return stopping;
    },
  };
}

interface Start extends EmbeddedPostgresOptions {
  password: string;
  deadline: number;
}

interface Running {
  pid: number;
  port: number;
  adopted: boolean;
}

/** Until our database is there. A postmaster adopted while somebody else ends it is not the one to stay with. */
async function serving(location: Location, start: Start): Promise<Running> {
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
  const logFile = join(start.dataDir, 'postgres.log');
  let takenPort: number | undefined;
  for (let ports = 0; ports < MAX_PORTS; ) {
    const live = await adopt(location, start);
    if (live) return live;
    if (await removeStalePidFile(cluster))
      start.log('removed the pid file of a PostgreSQL that ended unexpectedly');

    const port = await choosePort(location, takenPort);
    const args = commandLineSettings(port, start.settings);
    const launched = await launch(location, { args, logFile, deadline: start.deadline });
    if (launched.ready) {
      await keepPort(location, port);
      return { pid: launched.pid, port, adopted: false };
    }
    if (/Address already in use/.test(launched.output)) {
      ports += 1;
      takenPort = port;
      continue;
    }
    // Another starter was faster, or backends of a killed postmaster are about to end.
    const held = /lock file .* already exists|pre-existing shared memory block/.test(launched.output);
    if (!held || Date.now() > start.deadline) throw launchError(cluster, logFile, launched.output);
    await sleep(RETRY_MS * 5);
  }
  throw new EmbeddedPostgresError('Every port tried for PostgreSQL on 127.0.0.1 was taken: start again');
}

/** Takes over a live postmaster of this cluster; one that is starting or ending is waited for. */
async function adopt(location: Location, start: Start): Promise<Running | undefined> {
  const cluster = clusterDir(location);
  for (;;) {
    const file = await readPidFile(cluster);
    if (!file || (await identify(file.pid, cluster)) !== 'ours') return undefined;
    if (file.status === 'ready' && (await serves(cluster, file.port, start.password))) {
      return { pid: file.pid, port: file.port, adopted: true };
    }
    if (Date.now() > start.deadline) {
      throw new EmbeddedPostgresError(
        `PostgreSQL (process ${file.pid}) runs on ${cluster} and answers nobody: end it with kill -INT ${file.pid} and start again`,
      );
    }
    await sleep(RETRY_MS);
  }
}

function launchError(cluster: string, logFile: string, output: string): EmbeddedPostgresError {
  if (saysDiskFull(output)) return diskFull(cluster);
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

function databaseUrl(port: number, password: string, database: string): string {
  return `postgres://${ROLE}:${password}@127.0.0.1:${port}/${database}`;
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined); // the query in flight reports it
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Whether the cluster answers at that port: only it knows the password and names that folder. */
async function serves(cluster: string, port: number, password: string): Promise<boolean> {
  try {
    return await withClient(databaseUrl(port, password, 'postgres'), async (client) => {
      const { rows } = await client.query<{ data_directory: string }>('show data_directory');
      return rows[0]?.data_directory === cluster;
    });
  } catch (error) {
    if (hasCode(error, WRONG_PASSWORD)) throw refused(error);
    return false;
  }
}

async function ensureDatabase(port: number, password: string): Promise<void> {
  try {
    await withClient(databaseUrl(port, password, ROLE), (client) => client.query('select 1'));
  } catch (error) {
    if (!hasCode(error, NO_SUCH_DATABASE)) throw refused(error);
    await withClient(databaseUrl(port, password, 'postgres'), async (client) => {
      await client.query(`create database ${ROLE}`).catch((failure: unknown) => {
        // Two starters may create it at the same moment.
        if (!DATABASE_EXISTS.some((code) => hasCode(failure, code))) throw refused(failure);
      });
    });
  }
}

function refused(error: unknown): EmbeddedPostgresError {
  const message = error instanceof Error ? error.message : String(error);
  if (saysDiskFull(message)) return diskFull('the database');
  if (hasCode(error, WRONG_PASSWORD)) {
    return new EmbeddedPostgresError(
      'The database does not take the password kept beside it: restore the file postgres-password it was made with',
    );
  }
  return new EmbeddedPostgresError(`PostgreSQL runs but refuses us: ${message}`);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
