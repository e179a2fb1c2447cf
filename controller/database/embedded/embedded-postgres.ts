import { mkdir, realpath } from 'node:fs/promises';
import { ensureCluster } from './cluster.ts';
import { databaseUrl } from './connection.ts';
import { withFiles } from './embedded-postgres-error.ts';
import { clusterDir, type Location, resolveLocation } from './location.ts';
import { stopPostmaster } from './postmaster.ts';
import { type Running, type Start, serving } from './serving-postgres.ts';

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

export const START_TIMEOUT_MS = 120_000;

/**
 * Starts PostgreSQL on the data directory, or adopts the one that already runs there. Nobody else is asked when it is
 * stopped, and nobody watches it: see `joinEmbeddedPostgres` for that.
 * Throws EmbeddedPostgresError with one line that says what to do.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { location, start } = await prepareCluster(options);
  const { pid, port, adopted }: Running = await serving(location, start);
  let stopping: Promise<void> | undefined;
  return {
    url: databaseUrl(port, start.password),
    pid,
    adopted,
    location: location.dir,
    stop() {
      stopping ??= stopPostmaster(pid, clusterDir(location));
      return stopping;
    },
  };
}

/** The cluster of a data directory, made where there is none, and how it is to be started. */
export async function prepareCluster(
  options: EmbeddedPostgresOptions,
): Promise<{ location: Location; start: Start }> {
  const deadline = Date.now() + (options.startTimeoutMs ?? START_TIMEOUT_MS);
  const dataDir = await withFiles(options.dataDir, async () => {
    // Root lends the cluster to another user, which has to pass through.
    await mkdir(options.dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    return realpath(options.dataDir);
  });
  const location = await resolveLocation(dataDir, options.log);
  const password = await ensureCluster(location, { sync: options.settings?.fsync !== 'off' });
  const { log, settings } = options;
  return { location, start: { dataDir, password, log, deadline, ...(settings && { settings }) } };
}
