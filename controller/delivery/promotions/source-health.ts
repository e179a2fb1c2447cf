/** How the source does where it runs: what people weigh before they bring it on. */
import type { PromotionPreflight } from '../../../schemas/api/promotions.ts';
import { readStatus } from '../../fleet/status/index.ts';
import type { Context } from '../../platform/operation/context.ts';

export interface SourceHealth {
  told: PromotionPreflight['sourceHealth'];
  /** The newest saved version, and the one that runs; null where there is none. */
  latestVersion: number | null;
  deployedVersion: number | null;
}

/** Of what came in, as errors: more is told as unhealthy. */
const MOST_ERRORS = 0.01;

export async function sourceHealth(
  ctx: Context,
  environmentId: string,
  pipelineId: string,
): Promise<SourceHealth> {
  const { pipelines } = await readStatus(ctx, { environmentId, pipelineId });
  const status = pipelines[0];
  const latestVersion = status?.pipeline.latestVersion ?? null;
  const deployedVersion = status?.pipeline.deployedVersion ?? null;
  if (!status || status.pipeline.isDraft || deployedVersion === null)
    return {
      told: { state: 'not-running', message: 'It is a draft and runs nowhere' },
      latestVersion,
      deployedVersion,
    };
  const { counts, rates } = status;
  const per = (rate: number) => `${Math.round(rate * 10) / 10}/s`;
  const message = `Version ${deployedVersion} runs on ${counts.running} of ${counts.total} ${counts.total === 1 ? 'node' : 'nodes'}${counts.crashed > 0 ? `, crashed on ${counts.crashed}` : ''}; ${per(rates.eventsIn)} events in, ${per(rates.eventsOut)} out, ${per(rates.errors)} errors`;
  // Old rates may be those of another time.
  const errs = rates.asOf === null && rates.errors > rates.eventsIn * MOST_ERRORS;
  const failing = counts.crashed > 0 || errs;
  const state = failing ? 'unhealthy' : counts.running === 0 ? 'not-running' : 'healthy';
  return { told: { state, message }, latestVersion, deployedVersion };
}
