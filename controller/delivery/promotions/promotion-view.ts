/** Presents promotions to readers, by the environments that they may enter. */
import type { Promotion } from '../../../schemas/api/delivery/promotions.ts';
import { mayEnter } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { notFound } from '../../platform/operation/errors.ts';
import type { Scope } from '../../platform/operation/operation.ts';
import { pullRequestUrl } from '../pull-requests/index.ts';
import { findPromotionRow, type PromotionRow } from './promotion-queries.ts';

/** The source is null once it was deleted. */
const scopesOf = ({ sourceTeamId: teamId, sourceEnvironmentId: environmentId, ...row }: PromotionRow) => ({
  source: teamId === null || environmentId === null ? null : { teamId, environmentId },
  target: { teamId: row.targetTeamId, environmentId: row.targetEnvironmentId },
});

/**
 * A reader of one environment sees the names of both, the times and the users. Of an environment that the reader may not enter,
 * these are left out: ids and versions of its pipelines, its pull request, its errors and the names of its nodes.
 */
export function presentPromotion(ctx: Context, row: PromotionRow): Promotion {
  const { source, target } = scopesOf(row);
  const canReadTarget = mayEnter(ctx, target);
  // A deleted source has nothing left to protect from readers of the target.
  const canReadSource = source === null ? canReadTarget : mayEnter(ctx, source);
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
    pullNumber === null || !canReadTarget
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
    ...(canReadSource ? {} : { pipelineId: null, sourceVersion: null }),
    ...(canReadTarget
      ? {}
      : { targetPipelineId: null, targetVersion: null, lastError: null, silentNodes: [] }),
    // The note names the silent nodes.
    ...(!canReadTarget && row.silentNodes.length > 0 ? { note: null } : {}),
    pullRequest,
  };
}

/** The scope for actions on a promotion: its target. @throws NOT_FOUND also to users who may not enter the target */
export async function requestScope(ctx: Context, requestId: string): Promise<Scope> {
  const row = await findPromotionRow(ctx.db, requestId);
  if (!row || !mayEnter(ctx, scopesOf(row).target)) throw notFound('Promotion');
  return scopesOf(row).target;
}

/** The scope for reading a promotion: either side. @throws NOT_FOUND */
export async function readerScope(ctx: Context, requestId: string): Promise<Scope> {
  const row = await findPromotionRow(ctx.db, requestId);
  const scope = row && [scopesOf(row).target, scopesOf(row).source].find((one) => one && mayEnter(ctx, one));
  if (!scope) throw notFound('Promotion');
  return scope;
}

/** @throws NOT_FOUND */
export async function presentPromotionById(ctx: Context, requestId: string): Promise<Promotion> {
  const row = await findPromotionRow(ctx.db, requestId);
  if (!row) throw notFound('Promotion');
  return presentPromotion(ctx, row);
}
