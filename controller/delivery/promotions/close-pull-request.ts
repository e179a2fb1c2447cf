/** Closing the pull request of a promotion that nobody waits for any more. */

import type { Context } from '../../platform/operation/context.ts';
import { findBinding } from '../bindings/index.ts';
import { findPullRequest, type PullRequestRecord, pullRequestsOf } from '../pull-requests/index.ts';
import type { PromotionRecord } from './store.ts';

/** Hidden text by which a comment that was written before is found again. */
const MARKER = '<!-- headgate:promotion-closed -->';

/**
 * Closes it where it still can be reached from here: the target may be bound to another repository by now. May be repeated.
 * @param comment Markdown; said on it before it is closed.
 * @returns null where there is nothing to close
 * @throws PRECONDITION_FAILED, UNAVAILABLE
 */
export async function closePullRequest(
  ctx: Context,
  promotion: Pick<PromotionRecord, 'pullRequestId' | 'targetEnvironmentId'>,
  comment: string | null = null,
): Promise<PullRequestRecord | null> {
  const pull = promotion.pullRequestId ? await findPullRequest(ctx.db, promotion.pullRequestId) : null;
  const binding = await findBinding(ctx.db, promotion.targetEnvironmentId);
  if (pull?.state !== 'open' || !binding) return null;
  const { repository, forge, project } = pullRequestsOf(binding);
  if (repository !== pull.repository || forge !== pull.forge || project !== pull.project) return null;
  const { pullRequests } = ctx.services;
  if (comment !== null) await pullRequests.comment(ctx, binding, pull, { marker: MARKER, body: comment });
  await pullRequests.close(ctx, binding, pull);
  return pull;
}
