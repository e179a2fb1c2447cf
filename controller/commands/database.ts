/** The database of a controller, for commands that work on it beside the controllers that run. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { joinEmbeddedPostgres } from '../database/embedded-postgres-shared.ts';
import { assertSchemaKnown } from '../database/migrate.ts';
import { messageOf } from '../platform/errors.ts';
import { createLogger } from '../platform/logger.ts';
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
  if (config.databaseUrl !== null) return reached(() => onKnown(config.databaseUrl ?? ''));
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

const CONNECTION =
  /ECONNREFUSED|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|Connection terminated|password authentication|does not exist/;

async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const text = error instanceof AggregateError ? String(error.errors[0]) : messageOf(error);
    if (!CONNECTION.test(`${text} ${String((error as { code?: unknown }).code)}`)) throw error;
    throw new CannotRun(`the database cannot be used (${text.slice(0, 200)}); look at HEADGATE_DATABASE_URL`);
  }
}
