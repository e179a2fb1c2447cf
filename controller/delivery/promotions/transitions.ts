/** The operations of the promotion reconciler: they complete interrupted requests and record the outcome of pull requests. */
import Type from 'typebox';
import type { MutationContext } from '../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { visible } from '../../platform/text/visible-text.ts';
import { findBinding } from '../bindings/index.ts';
import { closePullRequest } from './close-pull-request.ts';
import { notifyUi } from './notify-ui.ts';
import { pushAndOpen, recordPullRequest } from './open-pull-request.ts';
import {
  findLastPromoted,
  findPromotion,
  findReopened,
  findWaiting,
  lockPromotion,
  type PromotionChange,
  type PromotionRecord,
  updatePromotion,
} from './store.ts';

const TransitionResult = Type.Object({ changed: Type.Boolean() });
const PROMOTION_FIELDS = { requestId: Type.String(), environmentId: Type.String() };
/** `pullRequestId`: the pull request whose outcome is recorded. */
const OUTCOME_FIELDS = { ...PROMOTION_FIELDS, pullRequestId: Type.String() };
const scope = (_ctx: unknown, input: { environmentId: string }) => ({
  teamId: null,
  environmentId: input.environmentId,
});

/** Completes a promotion whose request ended before its pull request was open. */
export const open = mutation({
  name: 'promotion.open',
  summary: 'Push the branch of a promotion and open its pull request',
  role: 'EDITOR',
  audit: 'promotion.opened',
  input: Type.Object(PROMOTION_FIELDS),
  output: TransitionResult,
  scope,
  async prepare(ctx, { requestId, environmentId }) {
    const promotion = await findPromotion(ctx.db, requestId);
    if (promotion?.status !== 'AWAITING_PR_MERGE') throw notFound('Promotion');
    const binding = await findBinding(ctx.db, environmentId);
    if (binding?.mode !== 'sync') throw preconditionFailed('The environment is no longer bound to git');
    const { pipelineId, targetEnvironmentId, targetName } = promotion;
    const base =
      pipelineId === null
        ? null
        : await findLastPromoted(ctx.db, { pipelineId, targetEnvironmentId, targetName });
    return pushAndOpen(ctx, binding, requestId, base);
  },
  run: (ctx, { requestId }, pullRequestId) => recordPullRequest(ctx, requestId, pullRequestId),
});

function recordAudit(
  ctx: MutationContext,
  promotion: PromotionRecord,
  metadata: Record<string, unknown>,
): void {
  const { id, pipelineName, targetName, targetEnvironmentId: environmentId } = promotion;
  ctx.audit({
    entityType: 'Promotion',
    entityId: id,
    environmentId,
    metadata: { pipeline: pipelineName, name: targetName, ...metadata },
  });
}

/**
 * @throws NOT_FOUND where the promotion no longer waits for this pull request: another decision or another request came first,
 * and stays
 */
async function endAwaiting(
  ctx: MutationContext,
  { requestId, pullRequestId }: { requestId: string; pullRequestId: string },
  change: (promotion: PromotionRecord) => Partial<PromotionChange>,
  metadata: Record<string, unknown>,
): Promise<{ changed: boolean }> {
  const promotion = await lockPromotion(ctx.db, requestId);
  if (promotion?.status !== 'AWAITING_PR_MERGE' || promotion.pullRequestId !== pullRequestId)
    throw notFound('Promotion that waits for this pull request');
  await updatePromotion(ctx.db, requestId, { lastError: null, ...change(promotion) });
  recordAudit(ctx, promotion, metadata);
  await notifyUi(ctx, promotion);
  return { changed: true };
}

export const deployed = mutation({
  name: 'promotion.deployed',
  summary: 'What a promotion brought into git runs',
  role: 'EDITOR',
  audit: 'promotion.deployed',
  input: Type.Object({
    ...OUTCOME_FIELDS,
    targetPipelineId: Type.String(),
    targetVersion: Type.Union([Type.Integer(), Type.Null()]),
    number: Type.Integer(),
    silentNodes: Type.Array(Type.String()),
    silentNodeCount: Type.Integer(),
    note: Type.Union([Type.String(), Type.Null()]),
  }),
  output: TransitionResult,
  scope,
  run: (ctx, { targetPipelineId, targetVersion, number, silentNodes, silentNodeCount, note, ...key }) =>
    endAwaiting(
      ctx,
      key,
      ({ snapshot, written }) => ({
        status: 'DEPLOYED',
        ...{ targetPipelineId, targetVersion, silentNodes, note: note },
        // A later request may not have reached the branch. The next promotion is merged against what was.
        snapshot: written ?? snapshot,
        deployedAt: new Date(ctx.clock.now()),
      }),
      {
        pullRequest: number,
        version: targetVersion,
        ...(silentNodeCount > 0 ? { silentNodes: silentNodeCount } : {}),
      },
    ),
});

/** Run by a job, because the transaction that cancels a promotion must not call a forge. */
export const closeCancelled = mutation({
  name: 'promotion.closePullRequest',
  summary:
    'Close the pull request of a promotion that was cancelled, or whose source environment was deleted',
  role: 'EDITOR',
  audit: 'promotion.pullRequestClosed',
  input: Type.Object({ ...PROMOTION_FIELDS, sourceDeleted: Type.Boolean() }),
  output: TransitionResult,
  scope,
  async prepare(ctx, { requestId, sourceDeleted }) {
    const promotion = await findPromotion(ctx.db, requestId);
    if (promotion?.status !== 'CANCELLED') throw notFound('Promotion that was cancelled');
    const { sourceEnvironmentName: name } = promotion;
    const comment = sourceDeleted
      ? `The source environment ${codeSpan(name)} was deleted. This pull request is closed without a merge.`
      : null;
    return { promotion, closed: await closePullRequest(ctx, promotion, comment) };
  },
  async run(ctx, _input, { promotion, closed }) {
    if (closed) recordAudit(ctx, promotion, { pullRequest: closed.number });
    else ctx.unchanged();
    await notifyUi(ctx, promotion);
    return { changed: closed !== null };
  },
});

/** Backticks would end the span. */
const codeSpan = (name: string): string => `\`${visible(name.replaceAll('`', "'"))}\``;

export const ended = mutation({
  name: 'promotion.ended',
  summary: 'A promotion ends with its pull request, which was not merged',
  role: 'EDITOR',
  audit: 'promotion.ended',
  input: Type.Object({ ...OUTCOME_FIELDS, number: Type.Integer(), note: Type.String() }),
  output: TransitionResult,
  scope,
  run: (ctx, { number, note, ...key }) =>
    endAwaiting(
      ctx,
      key,
      // The clock of the database, because it is compared with `reopened_at`.
      () => ({ status: 'CANCELLED', note: note, decidedAt: ctx.db.fn.now() }),
      { pullRequest: number, note: note },
    ),
});

export const reopened = mutation({
  name: 'promotion.reopened',
  summary: 'A promotion that ended with its pull request is taken up again, since that is open again',
  role: 'EDITOR',
  audit: 'promotion.reopened',
  input: Type.Object(PROMOTION_FIELDS),
  output: TransitionResult,
  scope,
  async run(ctx, { requestId }) {
    const promotion = await lockPromotion(ctx.db, requestId);
    const pull = await findReopened(ctx.db, requestId);
    if (!promotion?.pipelineId || !pull) throw notFound('Promotion whose pull request was opened again');
    const { pipelineId, targetEnvironmentId, targetName } = promotion;
    const other = await findWaiting(ctx.db, { pipelineId, targetEnvironmentId, targetName });
    const note = `Pull request #${pull.number} was reopened while another promotion of this pipeline waits; close one of the two`;
    await updatePromotion(
      ctx.db,
      requestId,
      other
        ? { note: note, decidedAt: ctx.db.fn.now() }
        : {
            status: 'AWAITING_PR_MERGE',
            ...{ decidedById: null, decidedBy: null, decidedAt: null, note: null },
          },
    );
    recordAudit(ctx, promotion, { pullRequest: pull.number, ...(other ? { note: note } : {}) });
    await notifyUi(ctx, promotion);
    return { changed: other === null };
  },
});
