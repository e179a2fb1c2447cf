/** Where backups are stored, and when they are made: one row, or none for the defaults. */
import type { Knex } from 'knex';
import type { StorageBackend } from '../../../schemas/api/backups.ts';
import { sealingContext } from '../../platform/crypto/sealed-columns.ts';

export interface BackupSettings {
  backend: StorageBackend;
  bucket: string | null;
  region: string | null;
  prefix: string;
  endpoint: string | null;
  accessKeyId: string | null;
  sealedSecretAccessKey: string | null;
  scheduleEnabled: boolean;
  cron: string;
  retentionCount: number;
  scheduledThrough: Date;
}

const ID = 'backups';
/** Where the secret access key is stored. */
export const SECRET_PLACE = sealingContext('backup_settings', ID, 'sealed_secret_access_key');

const COLUMNS = {
  backend: 'backend',
  bucket: 'bucket',
  region: 'region',
  prefix: 'prefix',
  endpoint: 'endpoint',
  accessKeyId: 'access_key_id',
  sealedSecretAccessKey: 'sealed_secret_access_key',
  scheduleEnabled: 'schedule_enabled',
  cron: 'cron',
  retentionCount: 'retention_count',
  scheduledThrough: 'scheduled_through',
} as const;

const DEFAULTS: BackupSettings = {
  backend: 'local',
  bucket: null,
  region: null,
  prefix: '',
  endpoint: null,
  accessKeyId: null,
  sealedSecretAccessKey: null,
  scheduleEnabled: false,
  cron: '0 3 * * *',
  retentionCount: 7,
  scheduledThrough: new Date(0),
};

export async function readBackupSettings(db: Knex): Promise<BackupSettings> {
  return (await db('backup_settings').first(COLUMNS)) ?? DEFAULTS;
}

/** Until the transaction ends nobody else changes them. */
export async function lockBackupSettings(tx: Knex): Promise<BackupSettings> {
  await tx('backup_settings').insert({ id: ID }).onConflict('id').ignore();
  return (await tx('backup_settings').forUpdate().first(COLUMNS)) ?? DEFAULTS;
}

export async function updateBackupSettings(tx: Knex, change: Partial<BackupSettings>): Promise<void> {
  const entries = Object.entries(change) as [keyof BackupSettings, unknown][];
  const columns = Object.fromEntries(entries.map(([name, value]) => [COLUMNS[name], value]));
  await tx('backup_settings').update({ ...columns, updated_at: tx.fn.now() });
}
