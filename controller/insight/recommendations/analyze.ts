/** Looks at all pipelines of an environment and stores what would lower its costs: daily on the leader, and when an ADMIN asks. */
import type { Knex } from 'knex';
import { retryOnDeadlock } from '../../database/retry.ts';
import type { Context } from '../../platform/operation/context.ts';
import { messageOf } from '../../platform/operation/errors.ts';
import { readFacts } from './facts-queries.ts';
import { findSavings } from './rules.ts';
import { type FoundIn, listDueEnvironments, replacePending } from './store.ts';

/** Somewhat less than a day, so that it does not move on by an hour a day. */
const EVERY_MS = 23.5 * 3_600_000;

export interface Analysis {
  pipelines: number;
  found: FoundIn[];
}

export async function findInEnvironment(db: Knex, environmentId: string, now: number): Promise<Analysis> {
  const analysis: Analysis = { pipelines: 0, found: [] };
  for await (const some of readFacts(db, environmentId, now)) {
    analysis.pipelines += some.length;
    for (const facts of some)
      for (const finding of findSavings(facts, now))
        analysis.found.push({ ...finding, pipelineId: facts.pipelineId });
  }
  return analysis;
}

/** Runs on the leader. Every hour, so that a controller that is off at some hour of the day analyzes all the same. */
export async function analyzeDueEnvironments(ctx: Context): Promise<number> {
  const now = ctx.clock.now();
  let analyzed = 0;
  for (const environmentId of await listDueEnvironments(ctx.db, new Date(now - EVERY_MS))) {
    if (ctx.signal.aborted) break;
    try {
      await analyzeEnvironment(ctx, environmentId, now);
      analyzed += 1;
    } catch (error) {
      // It would otherwise come first the next time too, and keep the others from being analyzed.
      ctx.log.warn(
        { environmentId, reason: messageOf(error) },
        'the costs of an environment were not analyzed',
      );
    }
  }
  return analyzed;
}

async function analyzeEnvironment(ctx: Context, environmentId: string, now: number): Promise<void> {
  const { found } = await findInEnvironment(ctx.db, environmentId, now);
  await retryOnDeadlock(() =>
    ctx.db.transaction(async (tx) => {
      await ctx.fence?.(tx);
      await replacePending(tx, environmentId, found, new Date(now));
      await ctx.services.bus.publish(tx, { type: 'ui', environmentId, topics: ['costs'] });
    }),
  );
}
