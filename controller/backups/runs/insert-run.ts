/** The row of a run, with its audit row: before the work begins, and whichever way it was asked for. */
import type { BackupRun, BackupRunKind, BackupTrigger } from '../../../schemas/api/backups.ts';
import { nameOfActor } from '../../platform/operation/actor-name.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { findRun, insertRun } from './runs-store.ts';
import { COMMAND, SCHEDULE } from './triggers.ts';

export const triggerOf = ({ actor }: Context): BackupTrigger => {
  if (actor.type !== 'system') return 'manual';
  return actor.name === SCHEDULE ? 'scheduled' : 'command';
};

export async function insertBackupRun(
  ctx: MutationContext,
  kind: BackupRunKind,
  filename: string,
): Promise<BackupRun> {
  const id = newId();
  const trigger = triggerOf(ctx);
  const requestedBy = ctx.actor.type === 'system' && trigger === 'command' ? COMMAND : nameOfActor(ctx.actor);
  await insertRun(ctx.db, { id, kind, trigger, filename, requestedBy, startedAt: new Date(ctx.clock.now()) });
  ctx.audit({ entityType: 'Backup', entityId: filename, metadata: { filename, trigger } });
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['settings'] });
  const run = await findRun(ctx.db, id);
  if (!run) throw notFound('Run');
  return run;
}
