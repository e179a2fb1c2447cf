/** What the reconciler of promotions does: it goes on with what was begun, and says what became of a pull request. */
import Type from 'typebox';
import type { MutationContext } from '../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { visible } from '../../platform/text/visible-text.ts';
import { findBinding } from '../bindings/index.ts';
import { closePullRequest } from './close-pull-request.ts';
import { notifyUi, wakeLoops } from './notify.ts';
import {
  findPromotion,
  findReopened,
  findWaiting,
  lastPromoted,
  lockPromotion,
  type PromotionChange,
  type PromotionRecord,
  updatePromotion,
} from './store.ts';
import { bringToGit } from './through-git.ts';

const Settled = Type.Object({ changed: Type.Boolean() });
const Of = { requestId: Type.String(), environmentId: Type.String() };
const scope = (_ctx: unknown, input: { environmentId: string }) => ({
  teamId: null,
  environmentId: input.environmentId,
});

/** Of one whose asker did not live to see it through. */
export const supersedeWaiting = mutation({
  name: 'promotion.open',
  summary: 'Push the branch of a promotion and open its pull request',
  role: 'EDITOR',
  audit: 'promotion.opened',
  input: Type.Object(Of),
  output: Settled,
  scope,
  async prepare(ctx, { requestId, environmentId }) {
    const promotion = await findPromotion(ctx.db, requestId);
    if (promotion?.status !== 'AWAITING_PR_MERGE') throw notFound('Promotion');
    const binding = await findBinding(ctx.db, environmentId);
    if (binding?.mode !== 'sync') throw preconditionFailed('The environment is not bound to git any more');
    const { pipelineId, targetEnvironmentId, targetName } = promotion;
    const base =
      pipelineId === null
        ? null
        : await lastPromoted(ctx.db, { pipelineId, targetEnvironmentId, targetName });
    await bringToGit(ctx, binding, requestId, base);
  },
  async run(ctx, { requestId }) {
    const promotion = await findPromotion(ctx.db, requestId);
    if (!promotion) throw notFound('Promotion');
    note(ctx, promotion, { requestedBy: promotion.requestedBy });
    await notifyUi(ctx, promotion);
    await wakeLoops(ctx, promotion);
    return { changed: true };
  },
});

function note(ctx: MutationContext, promotion: PromotionRecord, metadata: Record<string, unknown>): void {
  const { id, pipelineName, targetName, targetEnvironmentId: environmentId } = promotion;
  ctx.audit({
    entityType: 'Promotion',
    entityId: id,
    environmentId,
    metadata: { pipeline: pipelineName, name: targetName, ...metadata },
  });
}

/** Of one that still waits for its pull request; anything else was decided by somebody meanwhile, and stays. */
async function settle(
  ctx: MutationContext,
  requestId: string,
  change: Partial<PromotionChange>,
  metadata: Record<string, unknown>,
): Promise<{ changed: boolean }> {
  const promotion = await lockPromotion(ctx.db, requestId);
  if (promotion?.status !== 'AWAITING_PR_MERGE') throw notFound('Promotion that waits for its pull request');
  await updatePromotion(ctx.db, requestId, { lastError: null, ...change });
  note(ctx, promotion, metadata);
  await notifyUi(ctx, promotion);
  return { changed: true };
}

export const deployed = mutation({
  name: 'promotion.deployed',
  summary: 'What a promotion brought into git runs',
  role: 'EDITOR',
  audit: 'promotion.deployed',
  input: Type.Object({
    ...Of,
    targetPipelineId: Type.String(),
    targetVersion: Type.Union([Type.Integer(), Type.Null()]),
    number: Type.Integer(),
    silentNodes: Type.Array(Type.String()),
    silentNodeCount: Type.Integer(),
    note: Type.Union([Type.String(), Type.Null()]),
  }),
  output: Settled,
  scope,
  run: (
    ctx,
    { requestId, targetPipelineId, targetVersion, number, silentNodes, silentNodeCount, note: said },
  ) =>
    settle(
      ctx,
      requestId,
      {
        status: 'DEPLOYED',
        ...{ targetPipelineId, targetVersion, silentNodes, note: said },
        deployedAt: new Date(ctx.clock.now()),
      },
      {
        pullRequest: number,
        version: targetVersion,
        ...(silentNodeCount > 0 ? { silentNodes: silentNodeCount } : {}),
      },
    ),
});

/** Of the job that is queued where the source environment is deleted: forges are not asked in that transaction. */
export const sourceDeleted = mutation({
  name: 'promotion.sourceDeleted',
  summary: 'Close the pull request of a promotion whose source environment was deleted',
  role: 'EDITOR',
  audit: 'promotion.pullRequestClosed',
  input: Type.Object(Of),
  output: Settled,
  scope,
  async prepare(ctx, { requestId }) {
    const promotion = await findPromotion(ctx.db, requestId);
    if (promotion?.status !== 'CANCELLED') throw notFound('Promotion that was cancelled');
    const { sourceEnvironmentName: name } = promotion;
    const closed = await closePullRequest(
      ctx,
      promotion,
      `The environment ${codeSpan(name)}, from which this was to be promoted, was deleted. So this is closed without being merged.`,
    );
    return { promotion, closed };
  },
  async run(ctx, _input, { promotion, closed }) {
    note(ctx, promotion, { pullRequest: closed?.number ?? null });
    await notifyUi(ctx, promotion);
    return { changed: closed !== null };
  },
});

/** Names hold no line breaks; backticks would end it. */
const codeSpan = (name: string): string => `\`${visible(name.replaceAll('`', "'"))}\``;

export const ended = mutation({
  name: 'promotion.ended',
  summary: 'A promotion ends with its pull request, which was not merged',
  role: 'EDITOR',
  audit: 'promotion.ended',
  input: Type.Object({ ...Of, number: Type.Integer(), note: Type.String() }),
  output: Settled,
  scope,
  run: (ctx, { requestId, number, note: said }) =>
    settle(
      ctx,
      requestId,
      // By the clock of the database, as is when a pull request was opened again.
      { status: 'CANCELLED', note: said, decidedAt: ctx.db.fn.now() },
      { pullRequest: number, note: said },
    ),
});

export const reopened = mutation({
  name: 'promotion.reopened',
  summary: 'A promotion that ended with its pull request is taken up again, since that is open again',
  role: 'EDITOR',
  audit: 'promotion.reopened',
  input: Type.Object(Of),
  output: Settled,
  scope,
  async run(ctx, { requestId }) {
    const promotion = await lockPromotion(ctx.db, requestId);
    const pull = await findReopened(ctx.db, requestId);
    if (!promotion?.pipelineId || !pull) throw notFound('Promotion whose pull request was opened again');
    const { pipelineId, targetEnvironmentId, targetName } = promotion;
    const other = await findWaiting(ctx.db, { pipelineId, targetEnvironmentId, targetName });
    const said = `Pull request #${pull.number} was opened again, while another promotion of the same waits; close one of the two`;
    await updatePromotion(
      ctx.db,
      requestId,
      other
        ? { note: said, decidedAt: ctx.db.fn.now() }
        : {
            status: 'AWAITING_PR_MERGE',
            ...{ decidedById: null, decidedBy: null, decidedAt: null, note: null },
          },
    );
    note(ctx, promotion, { pullRequest: pull.number, ...(other ? { note: said } : {}) });
    await notifyUi(ctx, promotion);
    return { changed: other === null };
  },
});
