/** What the loop writes of a rollout between its beginning and its end. */
import type { Context } from '../../platform/operation/context.ts';
import type { Step } from './decision/next-step.ts';
import { type RolloutRecord, saveObserved } from './store.ts';

/** Stores counters and the verdict so far. No user acts here, so nothing is audited. Pages are notified where the text changes. */
export async function recordObserved(
  ctx: Context,
  rollout: RolloutRecord,
  { observed, verdict, heldReason }: Step,
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    if (!(await saveObserved(tx, rollout, { observed, verdict, heldReason }))) return;
    const changed = rollout.heldReason !== heldReason || rollout.verdict?.message !== verdict?.message;
    const { environmentId } = rollout;
    await ctx.services.bus.publish(tx, {
      type: 'ui',
      environmentId,
      // The strip says only whether it is held; the figures are on the rollout's own page.
      topics: changed ? ['rollouts', 'pipelines'] : ['rollouts'],
    });
  });
}
