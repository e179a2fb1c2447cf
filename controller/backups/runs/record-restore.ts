/** What a restore writes into the restored database: its end, and an audit row after those that were restored. */
import type { Knex } from 'knex';
import type { BackupRun } from '../../../schemas/api/backups.ts';
import { writeAudit } from '../../platform/operation/audit-writer.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import type { ArchiveManifest } from '../archive/manifest.ts';
import { summaryOf } from '../restore/restore-archive.ts';
import { finishRun, updateProgress } from './runs-store.ts';

export interface RestoreRecord {
  run: BackupRun;
  manifest: ArchiveManifest;
  bus: Bus;
  at: Date;
}

/** The actor is the system: the account that asked may not be in the backup. Its name is in the row. */
export async function recordRestore(tx: Knex, { run, manifest, bus, at }: RestoreRecord): Promise<void> {
  const { tables, rows, bytes } = summaryOf(manifest);
  await updateProgress(tx, run.id, { phase: '', tablesDone: tables, tablesTotal: tables, rows, bytes });
  await finishRun(tx, run.id, { status: 'COMPLETED', size: bytes }, at);
  const { createdAt, createdBy, version } = manifest.header;
  await writeAudit(
    { db: tx, actor: { type: 'system', name: 'restore' }, ipAddress: null, services: { bus } },
    { teamId: null },
    [
      {
        entityType: 'Backup',
        entityId: run.filename,
        metadata: {
          ...{ filename: run.filename, requestedBy: run.requestedBy, trigger: run.trigger },
          ...{ createdAt, createdBy, version, tables, rows },
        },
      },
    ],
    'backup.restored',
  );
}
