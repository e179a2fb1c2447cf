/** Deletes what git owned: a tombstone hides it at once, and it is purged a day later, so that its manifest can restore it. */
import Type from 'typebox';
import type { MutationContext } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { bury, lockRow, type OwnedTable } from './store.ts';

/** How long a pruned object can be restored with its id and history. */
export const TOMBSTONE_HOURS = 24;
export const PURGE_JOB = 'purge-tombstone';

export const PruneObject = Type.Object({ environmentId: Type.String(), objectId: Type.String() });

export function pruneOperation(of: {
  /** The operation's name, for example `pipeline.prune`. */
  name: string;
  audit: string;
  entityType: string;
  table: OwnedTable;
  /** Columns to set beside the tombstone. */
  columns?: Readonly<Record<string, unknown>>;
  changed(ctx: MutationContext, environmentId: string, objectId: string): Promise<void>;
}) {
  return mutation({
    name: of.name,
    summary: `Tombstone a ${of.entityType} whose manifest is gone`,
    role: 'EDITOR',
    audit: of.audit,
    input: PruneObject,
    output: Type.Object({ pruned: Type.Boolean() }),
    scope: (_ctx, input) => ({ teamId: null, environmentId: input.environmentId }),
    async run(ctx, { environmentId, objectId }) {
      const living = await lockRow(ctx.db, of.table, objectId);
      if (living && living.environmentId !== environmentId) throw notFound(of.entityType);
      ctx.audit({
        entityType: of.entityType,
        entityId: objectId,
        environmentId,
        metadata: { name: living?.name ?? null },
      });
      if (!living) return { pruned: false };
      await bury(ctx.db, of.table, objectId, of.columns);
      await ctx.services.jobs.add(
        ctx.db,
        PURGE_JOB,
        { table: of.table, id: objectId },
        { runAt: new Date(ctx.clock.now() + TOMBSTONE_HOURS * 3_600_000), key: `${PURGE_JOB}:${objectId}` },
      );
      await of.changed(ctx, environmentId, objectId);
      return { pruned: true };
    },
  });
}
