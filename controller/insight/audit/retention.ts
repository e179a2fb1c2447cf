/**
 * Deletes events beyond the retention from the beginning of the audit log. Events are verified before they are deleted, so that
 * the deletion does not remove the traces of a manipulation.
 */
import type { AuditEvent } from '../../../schemas/api/insight/audit.ts';
import { writeAudit } from '../../platform/operation/audit-writer.ts';
import type { Context } from '../../platform/operation/context.ts';
import { type ChainLink, follows, isBeginning } from './chain/chain.ts';
import { ensureChainKey } from './chain/chain-key.ts';
import { readAuditRetention } from './retention-setting-store.ts';
import { deleteUpTo, PRUNED_ACTION, readAnchor } from './retention-store.ts';
import { readChain } from './store.ts';

const DAY_MS = 86_400_000;
/** Events per transaction. */
const BATCH = 5_000;

export interface PruneResult {
  deleted: number;
  /** The number of an old event that fails the verification: it and all later ones stay. */
  broken: number | null;
}

/** Runs on the leader and deletes in batches; each batch is recorded by an event of its own. */
export async function pruneAuditLog(ctx: Context, batch = BATCH): Promise<PruneResult> {
  const retentionDays = await readAuditRetention(ctx.db);
  let deleted = 0;
  if (retentionDays === null) return { deleted, broken: null };
  const before = new Date(ctx.clock.now() - retentionDays * DAY_MS);
  while (!ctx.signal.aborted) {
    const result = await ctx.db.transaction(async (tx) => {
      const pruned = await pruneNext({ ...ctx, db: tx }, before, batch);
      // The fence comes last, because it blocks the renewal of the lease until the transaction ends.
      await ctx.fence?.(tx);
      return pruned;
    });
    deleted += result.deleted;
    if (result.broken !== null) {
      ctx.log.error(
        { event: result.broken },
        'the oldest events of the audit log fail the verification, so they are not deleted; run: headgate audit verify',
      );
      return { deleted, broken: result.broken };
    }
    if (result.deleted < batch) return { deleted, broken: null };
  }
  return { deleted, broken: null };
}

async function pruneNext(ctx: Context, before: Date, batch: number): Promise<PruneResult> {
  // `ensureChainKey` instead of a mere read: a key that is created concurrently would be missed, and the anchor would lack its MAC.
  const key = await ensureChainKey(ctx.db, ctx.services);
  const anchor = await readAnchor(ctx.db);
  if (!isBeginning(key, anchor)) return { deleted: 0, broken: anchor.seq };
  const events = await readChain(ctx.db, anchor.seq, batch);
  const firstYoung = events.findIndex(({ event }) => new Date(event.createdAt) >= before);
  const old = firstYoung === -1 ? events : events.slice(0, firstYoung);
  let link: ChainLink = anchor;
  const verified: AuditEvent[] = [];
  for (const chained of old) {
    if (!follows(key, link, chained)) break;
    link = chained.event;
    verified.push(chained.event);
  }
  const broken = verified.length < old.length ? link.seq + 1 : null;
  const [first] = verified;
  if (!first) return { deleted: 0, broken };
  await deleteUpTo(ctx.db, key, verified);
  await writeAudit(
    ctx,
    { teamId: null },
    [
      {
        entityType: 'AuditLog',
        entityId: null,
        metadata: {
          ...{ events: verified.length, from: first.seq, through: link.seq, hash: link.hash },
          olderThan: before.toISOString(),
        },
      },
    ],
    PRUNED_ACTION,
  );
  return { deleted: verified.length, broken };
}
