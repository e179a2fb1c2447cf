/** The database: the embedded PostgreSQL or the configured one; migrated, with its pools. */
import type { Config } from '../config.ts';
import { assertDatabase } from '../database/assert-database.ts';
import { joinEmbeddedPostgres } from '../database/embedded/shared-postgres.ts';
import { migrateAll } from '../database/migrate.ts';
import { openPools, type Pools } from '../database/pools.ts';
import type { Logger } from '../platform/runtime/logger.ts';
import type { Lifecycle } from './lifecycle.ts';

/** Services of one machine, or of one cluster, are often started together. */
const DATABASE_WAIT_MS = 60_000;

export interface ReachedDatabase {
  url: string;
  /** Whether the disk of the embedded PostgreSQL is full. */
  diskFull: () => boolean;
}

/** Starts the embedded PostgreSQL, or waits for the configured one. */
export async function reachDatabase(
  config: Config,
  log: Logger,
  progress: (step: string) => void,
  lifecycle: Lifecycle,
): Promise<ReachedDatabase> {
  let url = config.databaseUrl;
  let diskFull = () => false;
  if (url !== null) {
    await assertDatabase(url, { waitMs: DATABASE_WAIT_MS, onWait: (why) => log.warn(why) });
  } else {
    progress('Starting the embedded Postgres');
    const postgres = await joinEmbeddedPostgres({ dataDir: config.dataDir, log });
    lifecycle.onStop('Postgres', () => postgres.leave());
    url = postgres.url;
    diskFull = postgres.diskFull;
  }
  return { url, diskFull };
}

/** Migrates it, and opens its pools. */
export async function openDatabase(
  url: string,
  progress: (step: string) => void,
  lifecycle: Lifecycle,
): Promise<Pools> {
  progress('Bringing the database up to date');
  await migrateAll(url);
  const pools = openPools(url);
  lifecycle.onStop('database', () => pools.destroy());
  return pools;
}
