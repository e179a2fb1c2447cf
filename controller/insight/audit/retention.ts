/**
 * The audit log is kept as long as the retention says; what is older is deleted from its beginning. What is deleted was
 * looked at first: somebody who has removed or changed events does not get rid of the trace this way.
 */
import type { AuditEvent } from '../../../schemas/api/audit.ts';
import { writeAudit } from '../../platform/operation/audit-writer.ts';
import type { Context } from '../../platform/operation/context.ts';
import { type ChainLink, follows, isBeginning } from './chain/chain.ts';
import { ensureChainKey } from './chain/chain-key.ts';
import { readAuditRetention } from './retention-setting-store.ts';
import { deleteUpTo, PRUNED, readAnchor } from './retention-store.ts';
import { readChain } from './store.ts';

const DAY_MS = 86_400_000;
/** Events of one transaction. */
const BATCH = 5_000;

export interface Pruned {
  /** How many were deleted. */
  deleted: number;
  /** The number of an old event that does not hold: it and what follows stays. */
  broken: number | null;
}

/** On the leader. Deletes in batches, each with its own event that tells of it. */
export async function pruneAuditLog(ctx: Context, batch = BATCH): Promise<Pruned> {
  const retentionDays = await readAuditRetention(ctx.db);
  let deleted = 0;
  if (retentionDays === null) return { deleted, broken: null };
  const before = new Date(ctx.clock.now() - retentionDays * DAY_MS);
  while (!ctx.signal.aborted) {
    const found = await ctx.db.transaction(async (tx) => {
      const pruned = await pruneNext({ ...ctx, db: tx }, before, batch);
      // Last: the renewal of the lease waits for whoever has asked for it.
      await ctx.fence?.(tx);
      return pruned;
    });
    deleted += found.deleted;
    if (found.broken !== null) {
      ctx.log.error(
        { event: found.broken },
        'the audit log does not hold where its oldest events should be deleted, so they stay; run: headgate audit verify',
      );
      return { deleted, broken: found.broken };
    }
    if (found.deleted < batch) return { deleted, broken: null };
  }
  return { deleted, broken: null };
}

async function pruneNext(ctx: Context, before: Date, batch: number): Promise<Pruned> {
  // Who only looked for a key could miss the one that begins to count meanwhile, and delete without its code.
  const key = await ensureChainKey(ctx.db, ctx.services);
  const anchor = await readAnchor(ctx.db);
  if (!isBeginning(key, anchor)) return { deleted: 0, broken: anchor.seq };
  const events = await readChain(ctx.db, anchor.seq, batch);
  const young = events.findIndex(({ event }) => new Date(event.createdAt) >= before);
  const old = young === -1 ? events : events.slice(0, young);
  let link: ChainLink = anchor;
  const sound: AuditEvent[] = [];
  for (const chained of old) {
    if (!follows(key, link, chained)) break;
    link = chained.event;
    sound.push(chained.event);
  }
  const broken = sound.length < old.length ? link.seq + 1 : null;
  const [first] = sound;
  if (!first) return { deleted: 0, broken };
  await deleteUpTo(ctx.db, key, sound);
  await writeAudit(
    ctx,
    { teamId: null },
    [
      {
        entityType: 'AuditLog',
        entityId: null,
        metadata: {
          ...{ events: sound.length, from: first.seq, through: link.seq, hash: link.hash },
          olderThan: before.toISOString(),
        },
      },
    ],
    PRUNED,
  );
  return { deleted: sound.length, broken };
}
