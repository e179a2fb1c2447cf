/**
 * Archives nodes that have been silent for long. An archived node keeps its history; no count includes it until its agent
 * connects again.
 */
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { inBatches } from '../../../platform/runtime/batches.ts';
import { type ArchivedNode, archiveSilent } from './archive-store.ts';

/** Agents poll at least every 5 minutes. After a start or a database outage, every live agent has polled within this time. */
const GRACE_MS = 15 * 60_000;
const BATCH = 200;

/** Runs on the leader. Returns the number of archived nodes. */
export async function archiveSilentNodes(ctx: Context, batch = BATCH): Promise<number> {
  const now = ctx.clock.now();
  if (now - ctx.services.listeningSince() < GRACE_MS) return 0;
  return inBatches(
    ctx,
    async (tx, limit) => {
      const archived = await archiveSilent(tx, new Date(now), limit);
      await publishArchived({ ...ctx, db: tx }, archived);
      return archived.length;
    },
    batch,
  );
}

async function publishArchived(ctx: Context, archived: readonly ArchivedNode[]): Promise<void> {
  const { bus } = ctx.services;
  for (const [environmentId, nodes] of Map.groupBy(archived, (node) => node.environmentId)) {
    await writeAudit(
      ctx,
      { teamId: nodes[0]?.teamId ?? null, environmentId },
      nodes.map(({ id, name, silentSince, afterDays }) => ({
        entityType: 'Node',
        entityId: id,
        metadata: { name, silentSince: silentSince.toISOString(), afterDays },
      })),
      'node.archived',
    );
    for (const { id } of nodes) await bus.publish(ctx.db, { type: 'node', nodeId: id, environmentId });
    await bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['fleet', 'pipelines', 'environments'] });
  }
}
