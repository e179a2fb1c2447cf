/** Deletes the oldest scheduled backups. Those that somebody has made by hand stay until somebody deletes them. */
import type { Knex } from 'knex';
import { readBackupSettings } from '../settings/settings-store.ts';
import { type BackupStorage, manifestNameOf } from '../storage/storage.ts';
import { listCreated } from './runs-store.ts';

export async function pruneScheduled(db: Knex, storage: BackupStorage, signal: AbortSignal): Promise<void> {
  const { retentionCount } = await readBackupSettings(db);
  const created = await listCreated(db);
  const scheduled = (await storage.list(signal))
    .map(({ filename }) => filename)
    .filter((filename) => created.get(filename)?.trigger === 'scheduled')
    // The time is in the name.
    .sort()
    .reverse();
  for (const filename of scheduled.slice(retentionCount)) {
    await storage.delete(filename, signal);
    await storage.delete(manifestNameOf(filename), signal);
  }
}
