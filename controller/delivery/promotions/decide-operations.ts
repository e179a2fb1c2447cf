/** What people decide of a promotion that waits. */
import { isDeepStrictEqual } from 'node:util';
import {
  ApprovePromotion,
  DecidedPromotion,
  PromotionRequest,
  RejectPromotion,
} from '../../../schemas/api/promotions.ts';
import { findEnvironment } from '../../fleet/environments/index.ts';
import type { ShippedContent } from '../../pipelines/index.ts';
import { nameOfActor } from '../../platform/operation/actor-name.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { conflict, DomainError } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { findPullRequest } from '../pull-requests/index.ts';
import { closePullRequest } from './close-pull-request.ts';
import { notifyUi } from './notify.ts';
import { requestScope } from './promotion-view.ts';
import { assertNotOwn, assertOwn, assertPending, getPromotion } from './rules.ts';
import { checkSnapshot, shipSnapshot } from './snapshot/ship-snapshot.ts';
import { digestOf } from './snapshot/snapshot.ts';
import { sourceNameOf } from './source.ts';
import { type PromotionChange, type PromotionRecord, recordError, updatePromotion } from './store.ts';
import { type Target, targetOfRequest } from './target.ts';

async function decide(
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

type Checked = { promotion: PromotionRecord } & (
  | { target: Target; content: ShippedContent; fault: null }
  | { fault: DomainError }
);

export const approve = mutation({
  name: 'promotion.approve',
  summary: 'Deploy what somebody else asked to be promoted',
  role: 'EDITOR',
  audit: 'promotion.approved',
  input: ApprovePromotion,
  output: DecidedPromotion,
  scope: (ctx, input) => requestScope(ctx, input.requestId),
  async prepare(ctx, { requestId, digest }): Promise<Checked> {
    const promotion = await getPromotion(ctx, requestId);
    assertNotOwn(ctx, promotion);
    assertPending(promotion, false);
    if (digest !== undefined && digest !== digestOf(promotion.snapshot)) throw askedAnew();
    try {
      const target = await targetOfRequest(ctx, promotion);
      if (promotion.snapshot.form !== 'graph') throw conflict('It was changed meanwhile; try again');
      const content = await checkSnapshot(ctx, target, promotion.snapshot);
      return { promotion, target, content, fault: null };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { promotion, fault: error };
    }
  },
  async run(ctx, { requestId }, checked) {
    const promotion = await getPromotion(ctx, requestId, true);
    assertNotOwn(ctx, promotion);
    assertPending(promotion, false);
    if (!isDeepStrictEqual(promotion.snapshot, checked.promotion.snapshot)) throw askedAnew();
    try {
      if (checked.fault) throw checked.fault;
      return await deploy(ctx, promotion, checked);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return failed(ctx, promotion, error);
    }
  },
});

const askedAnew = () =>
  conflict('Somebody asked for it anew meanwhile, with another state of the pipeline; look at it again');

async function deploy(
  ctx: MutationContext,
  promotion: PromotionRecord,
  checked: { target: Target; content: ShippedContent },
) {
  const target = await targetOfRequest(ctx, promotion);
  const { snapshot, sourceVersion, id: promotionId } = promotion;
  if (target.pipeline?.id !== checked.target.pipeline?.id || snapshot.form !== 'graph')
    throw conflict('The target was changed while this was being checked; try again');
  const { pipelineId, version } = await shipSnapshot(
    ctx,
    target,
    { snapshot, checked: checked.content },
    { promotionId, sourceEnvironmentName: await sourceNameOf(ctx, promotion), sourceVersion },
  );
  return decide(ctx, promotion, {
    status: 'DEPLOYED',
    targetPipelineId: pipelineId,
    targetVersion: version,
    deployedAt: new Date(ctx.clock.now()),
  });
}

/** Nothing of the deploy is kept; that it failed, and why, is. */
function failed(ctx: MutationContext, promotion: PromotionRecord, error: DomainError) {
  const { id, pipelineName, targetName, status, targetPipelineId } = promotion;
  ctx.redirect(id, async () => async (outside) => {
    if (await recordError(outside.db, id, error.message.slice(0, MOST_CHARACTERS)))
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
const MOST_CHARACTERS = 2_000;

export const reject = mutation({
  name: 'promotion.reject',
  summary: 'Refuse a promotion that waits for an approval',
  role: 'EDITOR',
  audit: 'promotion.rejected',
  input: RejectPromotion,
  output: DecidedPromotion,
  scope: (ctx, input) => requestScope(ctx, input.requestId),
  async run(ctx, { requestId, note }) {
    const promotion = await getPromotion(ctx, requestId, true);
    assertPending(promotion, false);
    const said = note?.trim();
    return decide(ctx, promotion, { status: 'REJECTED', ...(said ? { note: said } : {}) });
  },
});

export const cancel = mutation({
  name: 'promotion.cancel',
  summary: 'Take back a promotion that one has asked for; its pull request is closed',
  role: 'EDITOR',
  audit: 'promotion.cancelled',
  input: PromotionRequest,
  output: DecidedPromotion,
  scope: (ctx, input) => requestScope(ctx, input.requestId),
  async prepare(ctx, { requestId }) {
    const promotion = await getPromotion(ctx, requestId);
    assertOwn(ctx, promotion);
    assertPending(promotion, true);
    return { closed: (await closePullRequest(ctx, promotion)) !== null };
  },
  async run(ctx, { requestId }, { closed }) {
    const promotion = await getPromotion(ctx, requestId, true);
    assertOwn(ctx, promotion);
    // The loop may have seen that it was closed before this came so far.
    if (!closed || promotion.status !== 'CANCELLED') assertPending(promotion, true);
    const pull = promotion.pullRequestId ? await findPullRequest(ctx.db, promotion.pullRequestId) : null;
    const note =
      pull?.state === 'merged'
        ? `Pull request #${pull.number} was merged before; what it brought stays in git`
        : pull?.state === 'open'
          ? `Pull request #${pull.number} stays open: ${await bindingWords(ctx, promotion)}`
          : null;
    return decide(ctx, promotion, { status: 'CANCELLED', note });
  },
});

async function bindingWords(ctx: Context, { targetEnvironmentId }: PromotionRecord): Promise<string> {
  const environment = await findEnvironment(ctx.db, targetEnvironmentId);
  return `${environment?.name ?? 'the target'} is not bound to its repository any more; close it there`;
}
