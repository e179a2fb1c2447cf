/** The database of a controller, for commands that work on it beside the controllers that run. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { assertDatabase } from '../database/assert-database.ts';
import { joinEmbeddedPostgres } from '../database/embedded/shared-postgres.ts';
import { assertSchemaKnown } from '../database/migrate.ts';
import { createLogger } from '../platform/runtime/logger.ts';
import { CannotRun } from './command.ts';

/**
 * `existing` refuses a data directory in which no controller has run yet, instead of making a database there.
 * A database that a newer version has migrated is refused, since this one does not know all that is in it.
 */
export async function withDatabaseUrl<T>(
  config: Config,
  { existing }: { existing: boolean },
  work: (url: string) => Promise<T>,
): Promise<T> {
  const onKnown = async (url: string) => {
    await assertSchemaKnown(url);
    return work(url);
  };
  if (config.databaseUrl !== null) {
    await assertDatabase(config.databaseUrl, { waitMs: 0 });
    return onKnown(config.databaseUrl);
  }
  if (existing && !existsSync(join(config.dataDir, 'git'))) {
    throw new CannotRun(
      `no controller has run in ${config.dataDir}; set HEADGATE_DATA_DIR to its data directory, or HEADGATE_DATABASE_URL`,
    );
  }
  const postgres = await joinEmbeddedPostgres({ dataDir: config.dataDir, log: createLogger('error') });
  try {
    return await onKnown(postgres.url);
  } finally {
    await postgres.leave();
  }
}
