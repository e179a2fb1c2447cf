/**
 * Delivers what a stream has not sent yet, in order and at least once: the cursor moves when a batch was taken. A batch that
 * was begun keeps its entries and its id over restarts, so that a receiver recognizes what it has had.
 */
import type { Context } from '../../platform/operation/context.ts';
import { type Sent, send } from './send.ts';
import { SOURCES, type SourceEntry } from './source.ts';
import { advance, beginBatch, findStream, recordFailure, type StreamRecord } from './store.ts';

const BATCH_ENTRIES = 100;
/** Of the entries as JSON; a single larger one goes alone. */
const BATCH_BYTES = 512 * 1024;

export type Delivery =
  /** It is disabled, or gone. */
  | { state: 'off' }
  | { state: 'idle' }
  | { state: 'delivered'; entries: number }
  | { state: 'failed'; failures: number; isTemporary: boolean; retryAfterMs: number | null; error: string };

export async function deliverNext(ctx: Context, id: string): Promise<Delivery> {
  const stream = await findStream(ctx.db, id);
  if (!stream?.enabled) return { state: 'off' };
  const batch = await nextBatch(ctx, stream);
  const last = batch.at(-1);
  const [first] = batch;
  if (!first || !last) return { state: 'idle' };
  if (stream.batchEnd !== last.position)
    await fenced(ctx, (inside) => beginBatch(inside.db, stream, last.position));
  const sent = await send(ctx, stream, batch, { id: `${id}-${first.position}-${last.position}` });
  const at = new Date(ctx.clock.now());
  if (!sent.taken) {
    // This controller stops, or leads no more: nobody knows what became of it, and it is sent again.
    if (ctx.signal.aborted) return { state: 'idle' };
    await fenced(ctx, (inside) => recordFailure(inside.db, stream, { error: sent.error, at }));
    const { isTemporary, retryAfterMs, error } = sent;
    return { state: 'failed', failures: stream.failures + 1, isTemporary, retryAfterMs, error };
  }
  const missed = missedOf(stream, first, sent);
  const taken = { through: last.position, entries: batch.length, at, missed };
  await fenced(ctx, (inside) => advance(inside.db, stream, taken));
  if (missed) ctx.log.warn({ stream: id, ...missed }, 'entries of a stream were not delivered');
  return { state: 'delivered', entries: batch.length };
}

const fenced = (ctx: Context, work: (inside: Context) => Promise<void>): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await work({ ...ctx, db: tx });
  });

/** The batch that was begun, or what waits. */
async function nextBatch(ctx: Context, stream: StreamRecord): Promise<SourceEntry[]> {
  const source = SOURCES[stream.source];
  const begun = await source.read(ctx.db, stream.cursor, BATCH_ENTRIES, stream.batchEnd);
  // The retention may have deleted all of it since.
  const entries =
    begun.length > 0 || stream.batchEnd === null
      ? begun
      : await source.read(ctx.db, stream.cursor, BATCH_ENTRIES, null);
  let bytes = 0;
  const within = entries.findIndex(({ json }) => {
    bytes += Buffer.byteLength(JSON.stringify(json));
    return bytes > BATCH_BYTES;
  });
  return within === -1 ? entries : entries.slice(0, Math.max(1, within));
}

function missedOf(
  { source, cursor }: StreamRecord,
  first: SourceEntry,
  { partial }: Extract<Sent, { taken: true }>,
): { entries: number; reason: string } | null {
  const deleted = SOURCES[source].isGapless ? first.position - cursor - 1 : 0;
  const rejected = partial?.rejected ?? 0;
  if (deleted + rejected === 0) return null;
  const reasons = [
    deleted > 0 && 'deleted by the retention before they were delivered',
    rejected > 0 && `refused by the endpoint${partial?.message ? `: ${partial.message}` : ''}`,
  ].filter((reason) => reason !== false);
  return { entries: deleted + rejected, reason: reasons.join('; ') };
}
