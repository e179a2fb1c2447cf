/** The decisions on a pending promotion: approve, reject, cancel. */
import { isDeepStrictEqual } from 'node:util';
import {
  ApprovePromotion,
  DecidedPromotion,
  PromotionRequest,
  RejectPromotion,
} from '../../../schemas/api/delivery/promotions.ts';
import { findEnvironment } from '../../fleet/environments/index.ts';
import type { ShippedContent } from '../../pipelines/index.ts';
import { nameOfActor } from '../../platform/operation/actor-name.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { conflict, DomainError } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { findPullRequest } from '../pull-requests/index.ts';
import { CLOSE_PULL_REQUEST_JOB, findClosablePullRequest } from './close-pull-request.ts';
import { assertNotOwn, assertOwn, assertPending, getPromotion } from './decision-rules.ts';
import { notifyUi } from './notify-ui.ts';
import { requestScope } from './promotion-view.ts';
import { findSourceName } from './resolve-source.ts';
import { type ResolvedTarget, resolveRequestTarget } from './resolve-target.ts';
import { checkSnapshot, shipSnapshot } from './snapshot/ship-snapshot.ts';
import { snapshotDigest } from './snapshot/snapshot.ts';
import {
  MAX_ERROR_CHARACTERS,
  type PromotionChange,
  type PromotionRecord,
  recordError,
  updatePromotion,
} from './store.ts';

async function recordDecision(
  ctx: MutationContext,
  promotion: PromotionRecord,
  change: Partial<PromotionChange>,
): Promise<{ requestId: string; status: PromotionRecord['status']; targetPipelineId: string | null }> {
  const { id, pipelineName, targetName, targetEnvironmentId: environmentId } = promotion;
  await updatePromotion(ctx.db, id, {
    lastError: null,
    decidedById: ctx.actor.type === 'user' ? ctx.actor.userId : null,
    decidedBy: nameOfActor(ctx.actor),
    decidedAt: new Date(ctx.clock.now()),
    ...change,
  });
  const { note } = change;
  ctx.audit({
    entityType: 'Promotion',
    entityId: id,
    environmentId,
    metadata: { pipeline: pipelineName, name: targetName, ...(note ? { note } : {}) },
  });
  await notifyUi(ctx, promotion);
  return {
    requestId: id,
    status: change.status ?? promotion.status,
    targetPipelineId: change.targetPipelineId ?? promotion.targetPipelineId,
  };
}

type CheckedApproval = { promotion: PromotionRecord } & (
  | { target: ResolvedTarget; content: ShippedContent; error: null }
  | { error: DomainError }
);

export const approve = mutation({
  name: 'promotion.approve',
  summary: 'Deploy what somebody else asked to be promoted',
  role: 'EDITOR',
  audit: 'promotion.approved',
  input: ApprovePromotion,
  output: DecidedPromotion,
  scope: (ctx, input) => requestScope(ctx, input.requestId),
  async prepare(ctx, { requestId, digest }): Promise<CheckedApproval> {
    const promotion = await getPromotion(ctx, requestId);
    assertNotOwn(ctx, promotion);
    assertPending(promotion, false);
    if (digest !== undefined && digest !== snapshotDigest(promotion.snapshot)) throw supersededError();
    try {
      const target = await resolveRequestTarget(ctx, promotion);
      if (promotion.snapshot.form !== 'graph')
        throw conflict('The promotion was changed meanwhile; try again');
      const content = await checkSnapshot(ctx, target, promotion.snapshot);
      return { promotion, target, content, error: null };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { promotion, error };
    }
  },
  async run(ctx, { requestId }, preparation) {
    const promotion = await getPromotion(ctx, requestId, true);
    assertNotOwn(ctx, promotion);
    assertPending(promotion, false);
    if (!isDeepStrictEqual(promotion.snapshot, preparation.promotion.snapshot)) throw supersededError();
    try {
      if (preparation.error) throw preparation.error;
      return await deploy(ctx, promotion, preparation);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return rollBackDeploy(ctx, promotion, error);
    }
  },
});

const supersededError = () =>
  conflict(
    'The promotion was requested again meanwhile, with another state of the pipeline; review it again',
  );

async function deploy(
  ctx: MutationContext,
  promotion: PromotionRecord,
  preparation: { target: ResolvedTarget; content: ShippedContent },
) {
  const target = await resolveRequestTarget(ctx, promotion);
  const { snapshot, sourceVersion, id: promotionId } = promotion;
  if (target.pipeline?.id !== preparation.target.pipeline?.id || snapshot.form !== 'graph')
    throw conflict('The target changed during the check; try again');
  const { pipelineId, version } = await shipSnapshot(
    ctx,
    target,
    { snapshot, checked: preparation.content },
    { promotionId, sourceEnvironmentName: await findSourceName(ctx, promotion), sourceVersion },
  );
  return recordDecision(ctx, promotion, {
    status: 'DEPLOYED',
    targetPipelineId: pipelineId,
    targetVersion: version,
    deployedAt: new Date(ctx.clock.now()),
  });
}

/** Rolls the transaction back, and records the error on the promotion in another one. */
function rollBackDeploy(ctx: MutationContext, promotion: PromotionRecord, error: DomainError) {
  const { id, pipelineName, targetName, status, targetPipelineId } = promotion;
  ctx.rollBack(id, async () => async (outside) => {
    if (await recordError(outside.db, id, error.message.slice(0, MAX_ERROR_CHARACTERS)))
      await notifyUi(outside, promotion);
    return {
      action: 'promotion.failed',
      entry: {
        entityType: 'Promotion',
        entityId: id,
        environmentId: promotion.targetEnvironmentId,
        metadata: { pipeline: pipelineName, name: targetName },
      },
      result: { refusal: error },
    };
  });
  return { requestId: id, status, targetPipelineId };
}

export const reject = mutation({
  name: 'promotion.reject',
  summary: 'Reject a promotion that waits for an approval',
  role: 'EDITOR',
  audit: 'promotion.rejected',
  input: RejectPromotion,
  output: DecidedPromotion,
  scope: (ctx, input) => requestScope(ctx, input.requestId),
  async run(ctx, { requestId, note }) {
    const promotion = await getPromotion(ctx, requestId, true);
    assertPending(promotion, false);
    const trimmed = note?.trim();
    return recordDecision(ctx, promotion, { status: 'REJECTED', ...(trimmed ? { note: trimmed } : {}) });
  },
});

export const cancel = mutation({
  name: 'promotion.cancel',
  summary: 'Cancel your own promotion; its pull request is closed',
  role: 'EDITOR',
  audit: 'promotion.cancelled',
  input: PromotionRequest,
  output: DecidedPromotion,
  scope: (ctx, input) => requestScope(ctx, input.requestId),
  async run(ctx, { requestId }) {
    const promotion = await getPromotion(ctx, requestId, true);
    assertOwn(ctx, promotion);
    assertPending(promotion, true);
    const { pullRequestId, targetEnvironmentId: environmentId } = promotion;
    const pull = pullRequestId ? await findPullRequest(ctx.db, pullRequestId) : null;
    const closablePull = await findClosablePullRequest(ctx, promotion);
    if (closablePull)
      await ctx.services.jobs.add(ctx.db, CLOSE_PULL_REQUEST_JOB, { requestId, environmentId });
    const note =
      pull?.state === 'merged'
        ? `Pull request #${pull.number} was merged before; its commits stay in git`
        : pull?.state === 'open' && !closablePull
          ? `Pull request #${pull.number} stays open: ${await describeUnbound(ctx, promotion)}`
          : null;
    return recordDecision(ctx, promotion, { status: 'CANCELLED', note });
  },
});

async function describeUnbound(ctx: Context, { targetEnvironmentId }: PromotionRecord): Promise<string> {
  const environment = await findEnvironment(ctx.db, targetEnvironmentId);
  return `${environment?.name ?? 'the target'} is no longer bound to its repository; close it there`;
}
