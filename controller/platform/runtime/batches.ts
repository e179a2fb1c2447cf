import type { Knex } from 'knex';
import type { Context } from '../operation/context.ts';

/** Rows of one transaction. */
const BATCH = 1_000;

/**
 * Runs `work` in transactions, until one of them finds fewer rows than `batch`. Each is fenced where the context carries a
 * fence. `work` handles at most `limit` rows and answers how many it handled. Answers the sum.
 */
export async function inBatches(
  ctx: Context,
  work: (tx: Knex, limit: number) => Promise<number>,
  batch = BATCH,
): Promise<number> {
  let handled = 0;
  while (!ctx.signal.aborted) {
    const count = await ctx.db.transaction(async (tx) => {
      await ctx.fence?.(tx);
      return work(tx, batch);
    });
    handled += count;
    if (count < batch) break;
  }
  return handled;
}
