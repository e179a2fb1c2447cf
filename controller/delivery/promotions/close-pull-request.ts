/** Finds and closes the pull request of a cancelled promotion. */

import type { Context } from '../../platform/operation/context.ts';
import { type Binding, findBinding } from '../bindings/index.ts';
import { findPullRequest, type PullRequestRecord, pullRequestsOf } from '../pull-requests/index.ts';
import type { PromotionRecord } from './store.ts';

/** Closes the pull request of a cancelled promotion: `{requestId, environmentId}`. */
export const CLOSE_PULL_REQUEST_JOB = 'promotion.closePullRequest';

/** Hidden text that identifies a comment of an earlier attempt. */
const MARKER = '<!-- headgate:promotion-closed -->';

type PullRequestRef = Pick<PromotionRecord, 'pullRequestId' | 'targetEnvironmentId'>;

/** Null where no pull request is open, or where the target is now bound to another repository. */
export async function findClosablePullRequest(
  ctx: Pick<Context, 'db'>,
  { pullRequestId, targetEnvironmentId }: PullRequestRef,
): Promise<{ pull: PullRequestRecord; binding: Binding } | null> {
  const pull = pullRequestId ? await findPullRequest(ctx.db, pullRequestId) : null;
  const binding = await findBinding(ctx.db, targetEnvironmentId);
  if (pull?.state !== 'open' || !binding) return null;
  const { repository, forge, project } = pullRequestsOf(binding);
  if (repository !== pull.repository || forge !== pull.forge || project !== pull.project) return null;
  return { pull, binding };
}

/**
 * Comments on the pull request, if `comment` is given, and closes it. Idempotent.
 * @param comment Markdown
 * @returns null where there is nothing that can be closed
 * @throws PRECONDITION_FAILED, UNAVAILABLE
 */
export async function closePullRequest(
  ctx: Context,
  promotion: PullRequestRef,
  comment: string | null = null,
): Promise<PullRequestRecord | null> {
  const found = await findClosablePullRequest(ctx, promotion);
  if (!found) return null;
  const { pull, binding } = found;
  const { pullRequests } = ctx.services;
  if (comment !== null) await pullRequests.comment(ctx, binding, pull, { marker: MARKER, body: comment });
  await pullRequests.close(ctx, binding, pull);
  return pull;
}
