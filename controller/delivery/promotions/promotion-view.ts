/** What of a promotion is told to whom. */
import type { Promotion } from '../../../schemas/api/promotions.ts';
import { mayEnter } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import type { Scope } from '../../platform/operation/operation.ts';
import { pullRequestUrl } from '../pull-requests/index.ts';
import { type PromotionRow, readPromotion } from './queries.ts';

/** The source is null once it was deleted. */
const ends = ({ sourceTeamId: teamId, sourceEnvironmentId: environmentId, ...row }: PromotionRow) => ({
  source: teamId === null || environmentId === null ? null : { teamId, environmentId },
  target: { teamId: row.targetTeamId, environmentId: row.targetEnvironmentId },
});

/**
 * Names of both sides, and when and by whom, are for everybody who sees one side. What lies behind a side that the reader may
 * not enter is left out: ids and versions of its pipelines, its pull request, and what went wrong there.
 */
export function presentPromotion(ctx: Context, row: PromotionRow): Promotion {
  const { source, target } = ends(row);
  const seesTarget = mayEnter(ctx, target);
  // Of a source that is deleted nothing is left to be kept from those who see what it became.
  const seesSource = source === null ? seesTarget : mayEnter(ctx, source);
  const {
    sourceTeamId: _s,
    targetTeamId: _t,
    pullNumber,
    pullState,
    pullForge,
    pullUrl,
    checkState,
    checkSummary,
    ...promotion
  } = row;
  const pullRequest =
    pullNumber === null || !seesTarget
      ? null
      : {
          number: pullNumber,
          state: pullState,
          forge: pullForge,
          url: pullRequestUrl(ctx, row.targetEnvironmentId, { url: pullUrl, number: pullNumber }),
          check: checkState === null ? null : { state: checkState, summary: checkSummary ?? '' },
        };
  return {
    ...promotion,
    ...(seesSource ? {} : { pipelineId: null, sourceVersion: null }),
    ...(seesTarget ? {} : { targetPipelineId: null, targetVersion: null, lastError: null, silentNodes: [] }),
    // It names them.
    ...(!seesTarget && row.silentNodes.length > 0 ? { note: null } : {}),
    pullRequest,
  };
}

/** For a request that is acted on: where it goes. @throws NOT_FOUND to others, as if there were none */
export async function requestScope(ctx: Context, requestId: string): Promise<Scope> {
  const row = await readPromotion(ctx.db, requestId);
  if (!row || !mayEnter(ctx, ends(row).target)) throw notFound('Promotion');
  return ends(row).target;
}

/** For reading: either side will do. @throws NOT_FOUND */
export async function readerScope(ctx: Context, requestId: string): Promise<Scope> {
  const row = await readPromotion(ctx.db, requestId);
  const side = row && [ends(row).target, ends(row).source].find((one) => one && mayEnter(ctx, one));
  if (!side) throw notFound('Promotion');
  return side;
}

/** @throws NOT_FOUND */
export async function presentPromotionById(ctx: Context, requestId: string): Promise<Promotion> {
  const row = await readPromotion(ctx.db, requestId);
  if (!row) throw notFound('Promotion');
  return presentPromotion(ctx, row);
}
