/** The newest stored event of some components, redacted by the patterns of today. */
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { Context } from '../../platform/operation/context.ts';
import { effectiveRedactKeys } from '../environments/index.ts';
import { createRedactor } from './redact.ts';
import { findNewestResult } from './store.ts';

/** `keys`: components, or named outputs as `key.output`. Null where no sample of the last day has an event. */
export async function latestSample(
  ctx: Pick<Context, 'db' | 'clock'>,
  pipelineId: string,
  keys: readonly string[],
): Promise<unknown> {
  const since = new Date(ctx.clock.now() - AGENT_LIMITS.sampleResultMs);
  const newest = await findNewestResult(ctx.db, { pipelineId, keys, since });
  const event = newest?.events.at(-1);
  if (!newest || event === undefined) return null;
  return createRedactor(effectiveRedactKeys(newest.redactKeys)).value(event);
}
