/** Removes what restores have left that did not come to their end. */
import { rm } from 'node:fs/promises';
import type { Knex } from 'knex';
import { readLastRestore } from '../runs/last-restore-store.ts';
import { listUnfinishedSchemas } from '../runs/runs-store.ts';
import { dropSchema } from './load-store.ts';
import { listPendingFiles } from './pending-repository.ts';

/** Of this database and of this data directory. A restore that has committed keeps its repository. */
export async function hasLeftovers(db: Knex, dataDir: string): Promise<boolean> {
  const last = await readLastRestore(db);
  const files = await listPendingFiles(dataDir, last?.id ?? null);
  return files.length > 0 || (await listUnfinishedSchemas(db)).length > 0;
}

/** Called by who holds the lock of runs: what a restore works on would be removed too. */
export async function deleteLeftovers(db: Knex, dataDir: string): Promise<void> {
  for (const schema of await listUnfinishedSchemas(db)) await dropSchema(db, schema);
  const last = await readLastRestore(db);
  for (const file of await listPendingFiles(dataDir, last?.id ?? null))
    await rm(file, { recursive: true, force: true });
}
