/** Reads the pull requests of the repository that an environment is bound to. */
import {
  AUTO_MERGING,
  ListPullRequests,
  PullRequest,
  PullRequestDiff,
  PullRequestList,
  PullRequestPlan,
  type PullRequestSummary,
  WhichPullRequest,
} from '../../../schemas/api/delivery/pull-requests.ts';
import { environmentScope } from '../../identity/access/index.ts';
import { query } from '../../platform/operation/operation.ts';
import { allows } from '../../platform/operation/permissions.ts';
import { findBinding } from '../bindings/index.ts';
import { findPull, identityOf, mayMergeInto } from './access.ts';
import { readCheck } from './checks-store.ts';
import { listComments, listReviews } from './comments-store.ts';
import { NOT_PLANNED, presentCheck, presentComment, presentReviews, summariesOf } from './presenter.ts';
import { hasRead, pullRequestsOf } from './repository-of-binding.ts';
import { approvalsFor, listBoundBranches } from './repository-queries.ts';
import { mergeRefusal, reviewRefusal } from './rules.ts';
import { listPullRequests } from './store.ts';

export const list = query({
  name: 'pullRequest.list',
  summary: 'Pull requests against the branch that an environment is bound to, newest first',
  role: 'VIEWER',
  permission: 'gitops.read',
  input: ListPullRequests,
  output: PullRequestList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, state, limit = 50, before }) {
    const binding = await findBinding(ctx.db, environmentId);
    if (!binding || !hasRead(binding)) return [];
    return summariesOf(
      ctx,
      await listPullRequests(ctx.db, pullRequestsOf(binding), { state, limit, before }),
    );
  },
});

export const get = query({
  name: 'pullRequest.get',
  summary: 'A pull request with its commits, reviews and comments, and what blocks its merge',
  role: 'VIEWER',
  permission: 'gitops.read',
  input: WhichPullRequest,
  output: PullRequest,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const { binding, pull } = await findPull(ctx, input);
    const [summary] = (await summariesOf(ctx, [pull])) as [PullRequestSummary];
    const reviews = await listReviews(ctx.db, [pull.id]);
    const branches = await listBoundBranches(ctx.db, pull.repository, binding.environmentId);
    const requiredApprovals = approvalsFor(branches, pull.base);
    const facts = { reviews, requiredApprovals, mayPush: mayMergeInto(ctx, branches, pull.base) };
    const isEditor = allows(ctx.actor, binding, { role: 'EDITOR', permission: 'pulls.review' });
    const { body, baseSha, conflicts, mergeSha, mergeMethod, mergedBy, closedAt } = pull;
    return {
      ...summary,
      ...{ body, baseSha, conflicts, mergeSha, mergeMethod, mergedBy, closedAt, requiredApprovals },
      comments: (await listComments(ctx.db, pull.id)).map((comment) => presentComment(comment, ctx)),
      reviews: presentReviews(pull, reviews),
      commits: await ctx.services.pullRequests.commits(ctx, binding, pull),
      autoMerge: AUTO_MERGING.includes(pull.forge) ? pull.autoMerge : null,
      notice: pull.notice,
      merge: { refusal: mergeRefusal(pull, facts)?.message ?? null },
      review: { refusal: reviewRefusal(pull, { who: identityOf(ctx), isEditor })?.message ?? null },
    };
  },
});

export const diff = query({
  name: 'pullRequest.diff',
  summary: 'The files that a pull request changes',
  role: 'VIEWER',
  permission: 'gitops.read',
  input: WhichPullRequest,
  output: PullRequestDiff,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const { binding, pull } = await findPull(ctx, input);
    return ctx.services.pullRequests.diff(ctx, binding, pull);
  },
});

export const plan = query({
  name: 'pullRequest.plan',
  summary: 'What merging a pull request would do to the environment',
  role: 'VIEWER',
  permission: 'gitops.read',
  input: WhichPullRequest,
  output: PullRequestPlan,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const { binding, pull } = await findPull(ctx, input);
    const check = await readCheck(ctx.db, pull.id, input.environmentId);
    const { environmentId, environmentName } = binding;
    const none = {
      ...{ pullRequestId: pull.id, environmentId, environmentName, headSha: '', baseSha: '' },
      ...{ state: 'pending' as const, summary: NOT_PLANNED, reason: null, computedAt: null },
    };
    if (check === null) {
      const presented = { ...presentCheck(none, { ...pull, state: 'open' }) };
      const reason = pull.state === 'open' ? null : `It is ${pull.state}, and was never planned`;
      return { check: presented, plan: null, reason };
    }
    const isOld = check.headSha !== pull.headSha && pull.state === 'open';
    return {
      check: presentCheck(check, pull),
      plan: isOld ? null : check.plan,
      reason: isOld ? null : check.reason,
    };
  },
});
