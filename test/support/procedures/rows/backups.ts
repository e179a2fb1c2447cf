import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { until } from '../../harness/until.ts';
import type { Side } from '../../scenes/two-teams.ts';
import { NOTHING } from '../../users/person.ts';
import type { Rows } from './row.ts';

const folderOf = ({ gitdir }: Side): string => join(dirname(dirname(gitdir)), 'backups');

/** One run at a time. */
const untilNoneRuns = ({ db }: Side): Promise<void> =>
  until(async () => (await db('backup_runs').where({ status: 'RUNNING' })).length === 0, {
    what: 'the run before to end',
  });

/** Backups in the folder, whatever storage was set. */
async function ready(side: Side): Promise<typeof NOTHING> {
  await untilNoneRuns(side);
  await side.db('backup_settings').delete();
  return NOTHING;
}

/** A file that is in the list and can be looked at, and that no restore takes: it is no archive. */
async function damaged(side: Side, n: number): Promise<{ filename: string }> {
  await ready(side);
  const stem = `headgate-20260131T030000Z-${String(n).padStart(6, '0')}`;
  const { value: current } = (await side.db('settings').where({ key: 'secretKeyFingerprint' }).first()) ?? {};
  const header = {
    ...{ format: 1, version: '0.0.0', createdAt: '2026-01-31T03:00:00.000Z', createdBy: 'somebody' },
    ...{ trigger: 'manual', schema: [], keys: { current, next: null } },
  };
  const lists = { tables: [], partitions: [], sequences: [], bindings: [], files: [] };
  await mkdir(folderOf(side), { recursive: true });
  await writeFile(join(folderOf(side), `${stem}.tar.gz`), 'no archive');
  await writeFile(
    join(folderOf(side), `${stem}.manifest.json`),
    JSON.stringify({ header, ...lists, jobs: 0, repository: null }),
  );
  return { filename: `${stem}.tar.gz` };
}

const unset = ({ db }: Side) => db('backup_settings').delete();
/** Nothing listens there. */
const bucket = (n: number) => ({
  ...{ bucket: `backups-${n}`, region: 'eu-central-1', prefix: 'headgate', endpoint: 'http://127.0.0.1:9' },
  ...{ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a-secret-of-the-bucket' },
});

export const BACKUPS: Rows = {
  'settings.createBackup': { names: 'own', input: ready, undo: untilNoneRuns },
  'settings.listBackups': { names: 'own', input: ready },
  'settings.backupRuns': { names: 'own', input: () => NOTHING },
  'settings.previewBackup': { names: 'own', input: damaged },
  'settings.deleteBackup': { names: 'own', input: damaged },
  'settings.verifyBackup': { names: 'own', input: damaged, undo: untilNoneRuns },
  'settings.restoreBackup': { names: 'own', input: damaged, undo: untilNoneRuns },
  'settings.updateBackupSchedule': {
    names: 'own',
    input: (_, n) => ({ enabled: true, cron: `${n % 60} 3 * * *`, retentionCount: 5 }),
    undo: unset,
  },
  'settings.testS3Connection': { names: 'own', input: (_, n) => bucket(n) },
  'settings.updateStorageBackend': {
    names: 'own',
    input: (_, n) => ({ backend: 's3', ...bucket(n) }),
    undo: unset,
  },
};
