import type { BackupSettingsView } from '../../../schemas/api/backups.ts';
import type { Context } from '../../platform/operation/context.ts';
import { findLastScheduled } from '../runs/runs-store.ts';
import { nextRuns } from './cron.ts';
import { type BackupSettings, readBackupSettings } from './settings-store.ts';

export const MASK = '********';
const NEXT_RUNS = 3;

/** For `settings.get`: the secret access key is masked. */
export async function readBackupsView(ctx: Pick<Context, 'db' | 'clock'>): Promise<BackupSettingsView> {
  return presentBackups(ctx, await readBackupSettings(ctx.db));
}

export async function presentBackups(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  settings: BackupSettings,
): Promise<BackupSettingsView> {
  const { backend, bucket, region, prefix, endpoint, accessKeyId, cron, retentionCount } = settings;
  const last = await findLastScheduled(db);
  return {
    backend,
    s3:
      bucket === null || region === null || accessKeyId === null
        ? null
        : { bucket, region, prefix, endpoint, accessKeyId, secretAccessKey: MASK },
    schedule: {
      ...{ enabled: settings.scheduleEnabled, cron, retentionCount },
      nextRuns: settings.scheduleEnabled ? nextRuns(cron, new Date(clock.now()), NEXT_RUNS) : [],
      lastRun: last && {
        ...{ status: last.status, startedAt: last.startedAt, finishedAt: last.finishedAt, error: last.error },
      },
    },
  };
}
