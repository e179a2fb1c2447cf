/** What the leader does by the clock: begins due backups, and ends runs whose controller died. */
import type { Context } from '../../platform/operation/context.ts';
import { DomainError, messageOf } from '../../platform/operation/errors.ts';
import type { Execute } from '../../platform/operation/operation.ts';
import { createBackup } from '../operations.ts';
import { deleteLeftovers } from '../restore/leftovers.ts';
import { nextAfter } from '../settings/cron.ts';
import { readBackupSettings } from '../settings/settings-store.ts';
import { withStorage } from './read-backups.ts';
import { finishRun, listRunning, withRunLock } from './runs-store.ts';

/** However many runs were missed while no controller ran, they are made up for by one. */
export async function startDueBackup(ctx: Context, execute: Execute): Promise<void> {
  const { scheduleEnabled, cron, scheduledThrough } = await readBackupSettings(ctx.db);
  if (!scheduleEnabled) return;
  const due = nextAfter(cron, scheduledThrough);
  if (due === null || due.getTime() > ctx.clock.now()) return;
  try {
    await execute(createBackup, ctx, {});
  } catch (error) {
    // Another run is under way: this one begins after it.
    if (!(error instanceof DomainError && error.code === 'CONFLICT')) throw error;
  }
}

/** Between the row of a run and its lock. */
const GRACE_MS = 30_000;
const ABANDONED =
  'The controller that did this ended before it came to its end. Nothing was changed; start it again';

/** A run is done by the process that holds its lock. What one that died has left behind is removed. */
export async function failAbandonedRuns(ctx: Context): Promise<void> {
  for (const { id, kind, filename, startedAt } of await listRunning(ctx.db)) {
    if (ctx.clock.now() - startedAt.getTime() < GRACE_MS) continue;
    await withRunLock(ctx.db, async () => {
      const failed = { status: 'FAILED', error: ABANDONED } as const;
      if (!(await finishRun(ctx.db, id, failed, new Date(ctx.clock.now())))) return;
      ctx.log.warn({ run: id, kind }, 'a backup or restore was abandoned');
      await deleteLeftovers(ctx.db, ctx.services.backups.parts.dataDir);
      if (kind !== 'create') return;
      await withStorage(ctx, (storage) => storage.deletePartial(filename, ctx.signal)).catch((error) =>
        ctx.log.warn({ run: id, reason: messageOf(error) }, 'what it left in the storage stays'),
      );
    });
  }
}
