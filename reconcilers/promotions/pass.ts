/** One pass over a promotion that waits for its pull request: it observes the pull request and executes the transition. */
import { isDeepStrictEqual } from 'node:util';
import { type Binding, findBinding } from '../../controller/delivery/bindings/index.ts';
import {
  findPromotion,
  findReopened,
  MAX_ERROR_CHARACTERS,
  notifyUi,
  type PromotionRecord,
  promotionTransitions,
  recordError,
} from '../../controller/delivery/promotions/index.ts';
import {
  findPullRequest,
  type PullRequestRecord,
  pullRequestsOf,
} from '../../controller/delivery/pull-requests/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import { DomainError } from '../../controller/platform/operation/errors.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';
import { readMergeProgress } from './merge-progress.ts';

/** `isOver`: the promotion no longer waits. */
export type PassOutcome = { isOver: boolean; environmentId: string | null };

export async function runPromotionPass(
  ctx: Context,
  execute: Execute,
  requestId: string,
): Promise<PassOutcome> {
  await resumeReopened(ctx, execute, requestId);
  const promotion = await findPromotion(ctx.db, requestId);
  if (promotion?.status !== 'AWAITING_PR_MERGE') return { isOver: true, environmentId: null };
  const environmentId = promotion.targetEnvironmentId;
  try {
    const message = await advance(ctx, execute, promotion);
    if (message === 'ended') return { isOver: true, environmentId };
    await storeMessage(ctx, promotion, message);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    // NOT_FOUND: a concurrent decision or request came first.
    if (error.code !== 'NOT_FOUND') await storeMessage(ctx, promotion, error.message);
  }
  return { isOver: false, environmentId };
}

/** Resumes a cancelled promotion whose pull request was reopened. */
async function resumeReopened(ctx: Context, execute: Execute, requestId: string): Promise<void> {
  if ((await findReopened(ctx.db, requestId)) === null) return;
  const { targetEnvironmentId: environmentId } = (await findPromotion(ctx.db, requestId)) as PromotionRecord;
  try {
    await execute(promotionTransitions.reopened, ctx, { requestId, environmentId });
  } catch (error) {
    // NOT_FOUND: the pull request was closed again meanwhile.
    if (!(error instanceof DomainError) || error.code !== 'NOT_FOUND') throw error;
  }
}

/** The longest push. */
const MAX_PUSH_MS = 60_000;

/** Returns what blocks the promotion; null where nothing does. */
async function advance(
  ctx: Context,
  execute: Execute,
  promotion: PromotionRecord,
): Promise<string | null | 'ended'> {
  const { id: requestId, targetEnvironmentId: environmentId, targetName } = promotion;
  const key = { requestId, environmentId };
  const binding = await findBinding(ctx.db, environmentId);
  const pull = promotion.pullRequestId ? await findPullRequest(ctx.db, promotion.pullRequestId) : null;
  const bindingProblem = describeBindingProblem(binding, pull);
  // Until then the process that handles the request may still push.
  const isAbandoned = ctx.clock.now() - promotion.updatedAt.getTime() > MAX_PUSH_MS;
  if (pull === null) {
    if (bindingProblem !== null) return bindingProblem;
    if (isAbandoned) await execute(promotionTransitions.open, ctx, key);
    return isAbandoned ? null : promotion.lastError;
  }
  // A later request may have another pull request by the time of the transition.
  const outcome = { ...key, pullRequestId: pull.id, number: pull.number };
  const ended = describeEnd(pull);
  if (ended !== null) {
    await execute(promotionTransitions.ended, ctx, { ...outcome, note: ended });
    return 'ended';
  }
  if (bindingProblem !== null || binding === null) return bindingProblem;
  if (pull.state === 'open') {
    if (isAbandoned && !isDeepStrictEqual(promotion.snapshot, promotion.written))
      await execute(promotionTransitions.open, ctx, key);
    return null;
  }
  const progress = await readMergeProgress(ctx, binding, pull, targetName);
  if (progress.state === 'progressing') return null;
  if (progress.state === 'blocked') return progress.reason;
  await execute(promotionTransitions.deployed, ctx, {
    ...outcome,
    ...{ targetPipelineId: progress.pipelineId, targetVersion: progress.version, note: progress.note },
    ...{ silentNodes: progress.silentNodes, silentNodeCount: progress.silentNodeCount },
  });
  return 'ended';
}

/** Why the pull request cannot be followed through this binding; null where it can. */
function describeBindingProblem(binding: Binding | null, pull: PullRequestRecord | null): string | null {
  const remedy = 'restore the binding, or cancel this promotion';
  if (binding === null || binding.mode === 'off')
    return `The environment is no longer bound to git; ${remedy}`;
  if (binding.mode !== 'sync')
    return `The binding is now in mode ${binding.mode}, so nothing is applied from git; ${remedy}`;
  const { repository, forge, project } = pullRequestsOf(binding);
  if (pull !== null && (repository !== pull.repository || forge !== pull.forge || project !== pull.project))
    return `The environment is now bound to another repository, without pull request #${pull.number}; ${remedy}`;
  if (pull !== null && pull.base === pull.subject.base && pull.base !== binding.ref)
    return `The environment is now bound to the branch ${binding.ref}, but the base of pull request #${pull.number} is ${pull.base}; ${remedy}`;
  return null;
}

/** How the pull request ended without a merge into the target; null where it did not. */
function describeEnd({ number, state, base, subject }: PullRequestRecord): string | null {
  if (typeof subject.base === 'string' && base !== subject.base)
    return `The base of pull request #${number} is now ${base}, no longer ${subject.base}`;
  return state === 'closed' ? `Pull request #${number} was closed without a merge` : null;
}

async function storeMessage(ctx: Context, promotion: PromotionRecord, message: string | null): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    const text = message === null ? null : message.slice(0, MAX_ERROR_CHARACTERS);
    if (await recordError(tx, promotion.id, text)) await notifyUi({ ...ctx, db: tx }, promotion);
  });
}
