/** Pull requests as the API returns them. */
import type {
  PullRequest,
  PullRequestCheck,
  PullRequestSummary,
} from '../../../schemas/api/delivery/pull-requests.ts';
import { mayEnter } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { type CheckRecord, listChecks } from './checks-store.ts';
import { type CommentRecord, listReviews, MAX_COMMENTS, type ReviewRecord } from './comments-store.ts';
import { teamsOfEnvironments } from './repository-queries.ts';
import { approvalsOf } from './rules.ts';
import type { PullRequestRecord } from './store.ts';

export const NOT_PLANNED = 'Not planned yet';

/** A check of another head is outdated: the plan of this one is still being made. */
export function presentCheck(check: CheckRecord, { headSha, state }: PullRequestRecord): PullRequestCheck {
  const { environmentId, environmentName } = check;
  if (check.headSha !== headSha && state === 'open')
    return {
      environmentId,
      environmentName,
      state: 'pending',
      summary: NOT_PLANNED,
      headSha,
      computedAt: null,
    };
  const { summary, computedAt } = check;
  return { environmentId, environmentName, state: check.state, summary, headSha: check.headSha, computedAt };
}

/** Takes four statements, whatever the number of pull requests. */
export async function summariesOf(
  ctx: Context,
  pulls: readonly PullRequestRecord[],
): Promise<PullRequestSummary[]> {
  const ids = pulls.map(({ id }) => id);
  const [checks, reviews] = [await listChecks(ctx.db, ids), await listReviews(ctx.db, ids)];
  const teams = await teamsOfEnvironments(ctx.db, [...new Set(checks.map((check) => check.environmentId))]);
  const maySee = ({ environmentId }: CheckRecord): boolean => {
    const teamId = teams.get(environmentId);
    return teamId !== undefined && mayEnter(ctx, { teamId, environmentId });
  };
  const seen = Map.groupBy(checks.filter(maySee), (check) => check.pullRequestId);
  const byPull = Map.groupBy(reviews, (review) => review.pullRequestId);
  return pulls.map((pull) => ({
    id: pull.id,
    number: pull.number,
    title: pull.title,
    base: pull.base,
    branch: pull.branch,
    headSha: pull.headSha,
    state: pull.state,
    author: pull.author,
    createdAt: pull.createdAt,
    updatedAt: pull.updatedAt,
    forge: pull.forge,
    url: pull.url,
    isDraft: pull.isDraft,
    isFork: pull.isFork,
    mergeable: pull.mergeable,
    checks: (seen.get(pull.id) ?? []).map((check) => presentCheck(check, pull)),
    approvals: approvalsOf(pull, byPull.get(pull.id) ?? []),
    promotionId: typeof pull.subject.promotionId === 'string' ? pull.subject.promotionId : null,
  }));
}

export const presentComment = (
  { id, author, authorId, body, createdAt, updatedAt }: CommentRecord,
  { actor }: Pick<Context, 'actor'>,
): PullRequest['comments'][number] => ({
  ...{ id, author, body, createdAt, updatedAt },
  own: actor.type === 'user' && actor.userId === authorId,
});

export const presentReviews = (
  { headSha }: PullRequestRecord,
  reviews: readonly ReviewRecord[],
): PullRequest['reviews'] =>
  reviews.slice(0, MAX_COMMENTS).map((review) => ({
    id: review.id,
    reviewer: review.reviewer,
    verdict: review.verdict,
    body: review.body,
    headSha: review.headSha,
    current: review.headSha === headSha,
    createdAt: review.createdAt,
  }));
