/** Pull requests that Headgate keeps itself: open, edit, comment, review. */
import {
  ChangedPullRequest,
  CommentPullRequest,
  EditPullRequest,
  OpenPullRequest,
  ReviewPullRequest,
} from '../../../schemas/api/delivery/pull-requests.ts';
import { environmentScope } from '../../identity/access/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { conflict, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { type Binding, findBinding } from '../bindings/index.ts';
import {
  assertMayPush,
  audited,
  authorColumns,
  identityOf,
  lockHostedPull,
  lockPull,
  notifyPullRequest,
} from './access.ts';
import { AlreadyOpenError, insertPullRequest, notePullRequest, updatePullRequest } from './changes-store.ts';
import { countCommentsAndReviews, insertComment, insertReview, MAX_COMMENTS } from './comments-store.ts';
import { forgeOf, pullRequestsOf } from './repository-of-binding.ts';
import { mergeable, reviewRefusal } from './rules.ts';
import { findOpen, type PullRequestRecord } from './store.ts';

export const open = mutation({
  name: 'pullRequest.open',
  summary: 'Asks for a branch to be merged into the one that the environment is bound to',
  role: 'EDITOR',
  audit: 'pullRequest.opened',
  input: OpenPullRequest,
  output: ChangedPullRequest,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  isProposal: () => true,
  async prepare(ctx, { environmentId, branch: given }) {
    const binding = await findBinding(ctx.db, environmentId);
    if (!binding || binding.mode === 'off')
      throw preconditionFailed('This environment is not bound to git; configure it first');
    await assertMayPush(ctx, binding);
    if (forgeOf(binding) !== 'headgate')
      throw preconditionFailed(`Pull requests of this repository are on ${binding.forge}; open it there`);
    const branch = given.replace(/^refs\/heads\//, '');
    if (branch === binding.ref)
      throw preconditionFailed(`"${branch}" is the branch itself; push a commit to another branch first`);
    await assertNotOpen(ctx, binding, branch);
    const state = await ctx.services.pullRequests.readMergeState(ctx, binding, { branch, base: binding.ref });
    return { binding, branch, state: mergeable(state, branch, binding.ref) };
  },
  async run(ctx, { title, body = '' }, { binding, branch, state }) {
    const { headSha } = state;
    const made = await insertPullRequest(ctx.db, {
      ...{ bindingId: binding.id, repository: binding.repositoryUrl, base: binding.ref, branch, headSha },
      ...{ title: title.trim(), body, subject: {}, ...authorColumns(ctx) },
    }).catch(async (error: unknown) => {
      if (error instanceof AlreadyOpenError) await assertNotOpen(ctx, binding, branch);
      throw error;
    });
    await notePullRequest(ctx.db, made.id, state);
    audited(ctx, made, { headSha });
    await notifyPullRequest(ctx, made, 'opened');
    return { number: made.number };
  },
});

/** @throws CONFLICT */
async function assertNotOpen(ctx: Context, binding: Binding, branch: string): Promise<void> {
  const known = await findOpen(ctx.db, pullRequestsOf(binding), branch);
  if (known) throw conflict(`#${known.number} asks for "${branch}" already; go on there`);
}

export const edit = mutation({
  name: 'pullRequest.edit',
  summary: 'Changes the title or the text of a pull request',
  role: 'EDITOR',
  audit: 'pullRequest.edited',
  input: EditPullRequest,
  output: ChangedPullRequest,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { title, body, ...which }) {
    const { pull } = await lockHostedPull(ctx, which);
    const change = {
      ...(title === undefined ? {} : { title: title.trim() }),
      ...(body === undefined ? {} : { body }),
    };
    await updatePullRequest(ctx.db, pull.id, change);
    audited(ctx, pull, { changed: Object.keys(change) });
    await notifyPullRequest(ctx, pull, 'edited');
    return { number: pull.number };
  },
});

export const comment = mutation({
  name: 'pullRequest.comment',
  summary: 'Writes a comment on a pull request',
  role: 'EDITOR',
  audit: 'pullRequest.commented',
  input: CommentPullRequest,
  output: ChangedPullRequest,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { body, ...which }) {
    const { pull } = await lockHostedPull(ctx, which);
    await assertBelowLimit(ctx, 'pull_request_comments', pull);
    await insertComment(ctx.db, { pullRequestId: pull.id, body, ...authorColumns(ctx) });
    audited(ctx, pull);
    await notifyPullRequest(ctx, pull, 'commented');
    return { number: pull.number };
  },
});

async function assertBelowLimit(
  ctx: MutationContext,
  table: Parameters<typeof countCommentsAndReviews>[1],
  { id, number }: PullRequestRecord,
): Promise<void> {
  if ((await countCommentsAndReviews(ctx.db, table, id)) >= MAX_COMMENTS)
    throw preconditionFailed(
      `#${number} has ${MAX_COMMENTS} of them already; continue in a new pull request`,
    );
}

export const review = mutation({
  name: 'pullRequest.review',
  summary: 'Approves a pull request at the commit that was reviewed, or asks for changes',
  role: 'EDITOR',
  permission: 'pulls.review',
  audit: 'pullRequest.reviewed',
  input: ReviewPullRequest,
  output: ChangedPullRequest,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { verdict, headSha, body = '', ...which }) {
    const { pull } = await lockPull(ctx, which);
    const refusal = reviewRefusal(pull, { who: identityOf(ctx), isEditor: true });
    if (refusal) throw refusal;
    if (headSha !== pull.headSha)
      throw conflict(`#${pull.number} is at ${pull.headSha.slice(0, 7)} now; review it again`);
    await assertBelowLimit(ctx, 'pull_request_reviews', pull);
    const { id, name } = identityOf(ctx);
    const made = { verdict, headSha, body, reviewer: name, reviewerId: id };
    await insertReview(ctx.db, { pullRequestId: pull.id, ...made });
    audited(ctx, pull, { verdict, headSha });
    await notifyPullRequest(ctx, pull, 'reviewed');
    return { number: pull.number };
  },
});
