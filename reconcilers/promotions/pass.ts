/** One look at a promotion that waits for its pull request. Says what has become of it, and may be repeated. */
import { isDeepStrictEqual } from 'node:util';
import { type Binding, findBinding } from '../../controller/delivery/bindings/index.ts';
import {
  findPromotion,
  findReopened,
  notifyUi,
  type PromotionRecord,
  promotionSettling,
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
import { progressOf } from './progress.ts';

/** `over`: there is nothing to wait for any more. */
export type PassOutcome = { over: boolean; environmentId: string | null };

export async function runPromotionPass(
  ctx: Context,
  execute: Execute,
  requestId: string,
): Promise<PassOutcome> {
  await takeUpAgain(ctx, execute, requestId);
  const promotion = await findPromotion(ctx.db, requestId);
  if (promotion?.status !== 'AWAITING_PR_MERGE') return { over: true, environmentId: null };
  const environmentId = promotion.targetEnvironmentId;
  try {
    const said = await settle(ctx, execute, promotion);
    if (said === 'over') return { over: true, environmentId };
    await say(ctx, promotion, said);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    // Somebody decided meanwhile, or it cannot be gone on with now.
    if (error.code !== 'NOT_FOUND') await say(ctx, promotion, error.message);
  }
  return { over: false, environmentId };
}

/** One that ended with its pull request, and whose pull request was opened again. */
async function takeUpAgain(ctx: Context, execute: Execute, requestId: string): Promise<void> {
  if ((await findReopened(ctx.db, requestId)) === null) return;
  const { targetEnvironmentId: environmentId } = (await findPromotion(ctx.db, requestId)) as PromotionRecord;
  try {
    await execute(promotionSettling.reopened, ctx, { requestId, environmentId });
  } catch (error) {
    // It was closed again meanwhile.
    if (!(error instanceof DomainError) || error.code !== 'NOT_FOUND') throw error;
  }
}

/** A push takes a minute at most. */
const AT_IT_MS = 60_000;

/** What it waits for although it should not have to; null where nothing is in the way. */
async function settle(
  ctx: Context,
  execute: Execute,
  promotion: PromotionRecord,
): Promise<string | null | 'over'> {
  const { id: requestId, targetEnvironmentId: environmentId, targetName } = promotion;
  const of = { requestId, environmentId };
  const binding = await findBinding(ctx.db, environmentId);
  const pull = promotion.pullRequestId ? await findPullRequest(ctx.db, promotion.pullRequestId) : null;
  const away = awayFrom(binding, pull);
  // Whoever asked is at it, or did not live to see it through.
  const left = ctx.clock.now() - promotion.updatedAt.getTime() > AT_IT_MS;
  if (pull === null) {
    if (away !== null) return away;
    if (left) await execute(promotionSettling.supersedeWaiting, ctx, of);
    return left ? null : promotion.lastError;
  }
  const ended = endOf(pull);
  if (ended !== null) {
    await execute(promotionSettling.ended, ctx, { ...of, number: pull.number, note: ended });
    return 'over';
  }
  if (away !== null || binding === null) return away;
  if (pull.state === 'open') {
    if (left && !isDeepStrictEqual(promotion.snapshot, promotion.written))
      await execute(promotionSettling.supersedeWaiting, ctx, of);
    return null;
  }
  const standing = await progressOf(ctx, binding, pull, targetName);
  if (standing.state === 'moving') return null;
  if (standing.state === 'stuck') return standing.why;
  await execute(promotionSettling.deployed, ctx, {
    ...of,
    ...{ targetPipelineId: standing.pipelineId, targetVersion: standing.version },
    ...{ number: pull.number, note: standing.note },
    ...{ silentNodes: standing.silentNodes, silentNodeCount: standing.silentNodeCount },
  });
  return 'over';
}

/** Why nobody here can tell what becomes of the pull request; null where somebody can. */
function awayFrom(binding: Binding | null, pull: PullRequestRecord | null): string | null {
  const then = 'set the binding back, or cancel this promotion';
  if (binding === null || binding.mode === 'off')
    return `The environment is not bound to git any more; ${then}`;
  if (binding.mode !== 'sync')
    return `The binding is in mode ${binding.mode} by now, and nothing is applied from git; ${then}`;
  const { repository, forge, project } = pullRequestsOf(binding);
  if (pull !== null && (repository !== pull.repository || forge !== pull.forge || project !== pull.project))
    return `The environment is bound to another repository by now than the one with pull request #${pull.number}; ${then}`;
  if (pull !== null && pull.base === pull.subject.base && pull.base !== binding.ref)
    return `The environment is bound to the branch ${binding.ref} by now, and pull request #${pull.number} goes to ${pull.base}; ${then}`;
  return null;
}

/** How the pull request ended without bringing anything here; null where it did not. */
function endOf({ number, state, base, subject }: PullRequestRecord): string | null {
  if (typeof subject.base === 'string' && base !== subject.base)
    return `Pull request #${number} goes to ${base} by now, and no longer to ${subject.base}`;
  return state === 'closed' ? `Pull request #${number} was closed without being merged` : null;
}

const MOST_CHARACTERS = 2_000;

async function say(ctx: Context, promotion: PromotionRecord, trouble: string | null): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    const text = trouble === null ? null : trouble.slice(0, MOST_CHARACTERS);
    if (await recordError(tx, promotion.id, text)) await notifyUi({ ...ctx, db: tx }, promotion);
  });
}
