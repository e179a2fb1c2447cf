/** A Postgres of its own for a row of the bench, with the settings that `make run` gives it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../controller/database/embedded/embedded-postgres.ts';
import { migrateAll } from '../../controller/database/migrate.ts';

export interface BenchDatabase {
  url: string;
  folder: string;
  remove(): Promise<void>;
}

export async function makeDatabase(): Promise<BenchDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: () => {} });
  const remove = async () => {
    await postgres.stop();
    for (const path of [folder, postgres.location]) rmSync(path, { recursive: true, force: true });
  };
  try {
    await migrateAll(postgres.url);
    return { url: postgres.url, folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
