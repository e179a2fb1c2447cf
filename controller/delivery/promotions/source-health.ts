/** The health of the source in its own environment, for the preflight and the text of the pull request. */
import type { PromotionPreflight } from '../../../schemas/api/delivery/promotions.ts';
import { readStatus } from '../../fleet/status/index.ts';
import type { Context } from '../../platform/operation/context.ts';

export interface SourceHealth {
  summary: PromotionPreflight['sourceHealth'];
  /** The newest saved version and the deployed one; null where there is none. */
  latestVersion: number | null;
  deployedVersion: number | null;
}

/** Errors per incoming event; above it the source counts as unhealthy. */
const MAX_ERROR_RATIO = 0.01;

export async function readSourceHealth(
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
      summary: { state: 'not-running', message: 'It is a draft and runs nowhere' },
      latestVersion,
      deployedVersion,
    };
  const { counts, rates } = status;
  const formatRate = (rate: number) => `${Math.round(rate * 10) / 10}/s`;
  const message = `Version ${deployedVersion} runs on ${counts.running} of ${counts.total} ${counts.total === 1 ? 'node' : 'nodes'}${counts.crashed > 0 ? `, crashed on ${counts.crashed}` : ''}; ${formatRate(rates.eventsIn)} events in, ${formatRate(rates.eventsOut)} out, ${formatRate(rates.errors)} errors`;
  // `asOf` is set when the rates are not current.
  const hasManyErrors = rates.asOf === null && rates.errors > rates.eventsIn * MAX_ERROR_RATIO;
  const failing = counts.crashed > 0 || hasManyErrors;
  const state = failing ? 'unhealthy' : counts.running === 0 ? 'not-running' : 'healthy';
  return { summary: { state, message }, latestVersion, deployedVersion };
}
