/** Making, reading, verifying, restoring and deleting backups. Only super admins: a backup holds what every team has. */
import { BackupFile, BackupList, BackupPreview, BackupRun, BackupRuns } from '../../schemas/api/backups.ts';
import { Deleted, NoInput } from '../../schemas/api/common.ts';
import type { Context } from '../platform/operation/context.ts';
import { preconditionFailed } from '../platform/operation/errors.ts';
import { newId } from '../platform/operation/ids.ts';
import { mutation, ownScope, query } from '../platform/operation/operation.ts';
import { insertBackupRun, triggerOf } from './runs/insert-run.ts';
import { assertListed, listBackups, previewBackup, withStorage } from './runs/read-backups.ts';
import { listRuns } from './runs/runs-store.ts';
import { updateBackupSettings } from './settings/settings-store.ts';
import { manifestNameOf, newBackupName } from './storage/storage.ts';

const RUNS = 20;

/** The work goes on after the answer; it is followed by `settings.backupRuns`. */
async function begin(ctx: Context, run: BackupRun): Promise<BackupRun> {
  void ctx.services.backups.run(run.id);
  return run;
}

export const createBackup = mutation({
  name: 'settings.createBackup',
  summary: 'Begin to make a backup of the database and the embedded repository',
  role: 'SUPER_ADMIN',
  audit: 'backup.started',
  input: NoInput,
  output: BackupRun,
  scope: () => ownScope,
  async run(ctx) {
    const now = new Date(ctx.clock.now());
    if (triggerOf(ctx) === 'scheduled') await updateBackupSettings(ctx.db, { scheduledThrough: now });
    return insertBackupRun(ctx, 'create', newBackupName(now, newId()));
  },
  finish: (ctx, _, { output }) => begin(ctx, output),
});

export const list = query({
  name: 'settings.listBackups',
  summary: 'Backups in the storage, the newest first',
  role: 'SUPER_ADMIN',
  input: NoInput,
  output: BackupList,
  scope: () => ownScope,
  run: (ctx) => listBackups(ctx),
});

export const runs = query({
  name: 'settings.backupRuns',
  summary: 'The last runs that made, verified or restored a backup, with their progress',
  role: 'SUPER_ADMIN',
  input: NoInput,
  output: BackupRuns,
  scope: () => ownScope,
  run: (ctx) => listRuns(ctx.db, RUNS),
});

export const preview = query({
  name: 'settings.previewBackup',
  summary: 'What a backup holds, and whether it can be restored here',
  role: 'SUPER_ADMIN',
  input: BackupFile,
  output: BackupPreview,
  scope: () => ownScope,
  run: (ctx, { filename }) => previewBackup(ctx, filename),
});

export const remove = mutation({
  name: 'settings.deleteBackup',
  summary: 'Delete a backup from the storage',
  role: 'SUPER_ADMIN',
  audit: 'backup.deleted',
  input: BackupFile,
  output: Deleted,
  scope: () => ownScope,
  prepare: (ctx, { filename }) => assertListed(ctx, filename),
  async run(ctx, { filename }) {
    ctx.audit({ entityType: 'Backup', entityId: filename, metadata: { filename } });
    return { deleted: true as const };
  },
  async finish(ctx, { filename }, { output }) {
    await withStorage(ctx, async (storage) => {
      await storage.delete(filename, ctx.signal);
      await storage.delete(manifestNameOf(filename), ctx.signal);
    });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['settings'] });
    return output;
  },
});

export const verify = mutation({
  name: 'settings.verifyBackup',
  summary: 'Begin to read a whole backup and compare its checksums',
  role: 'SUPER_ADMIN',
  audit: 'backup.verifyStarted',
  input: BackupFile,
  output: BackupRun,
  scope: () => ownScope,
  prepare: (ctx, { filename }) => assertListed(ctx, filename),
  run: (ctx, { filename }) => insertBackupRun(ctx, 'verify', filename),
  finish: (ctx, _, { output }) => begin(ctx, output),
});

export const restore = mutation({
  name: 'settings.restoreBackup',
  summary: 'Begin to replace everything by a backup; every user signs in again',
  role: 'SUPER_ADMIN',
  audit: 'backup.restoreStarted',
  input: BackupFile,
  output: BackupRun,
  scope: () => ownScope,
  async prepare(ctx, { filename }) {
    const { refusal } = await previewBackup(ctx, filename);
    if (refusal !== null) throw preconditionFailed(`${refusal}. Nothing was changed`);
  },
  run: (ctx, { filename }) => insertBackupRun(ctx, 'restore', filename),
  finish: (ctx, _, { output }) => begin(ctx, output),
});
