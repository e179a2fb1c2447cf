/** How pull requests come in, are given up, taken up again, and brought up to date. */
import {
  AutoMergePullRequest,
  ChangedPullRequest,
  MergedPullRequest,
  MergePullRequest,
  WhichPullRequest,
} from '../../../schemas/api/pull-requests.ts';
import { environmentScope } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { conflict, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import {
  asMerger,
  asPusher,
  audited,
  findPull,
  lockPull,
  notifyPullRequest,
  type Which,
  whoIs,
} from './access.ts';
import { pullRequestsOf } from './bound-repository.ts';
import { listReviews } from './comments-store.ts';
import type { Merged } from './gateway.ts';
import { approvalsFor, type BoundBranch, protectedBranches } from './repository-queries.ts';
import { elsewhere, mergeable, mergeRefusal } from './rules.ts';
import {
  AlreadyOpenError,
  endPullRequest,
  findOpen,
  isWanted,
  notePullRequest,
  type PullRequestRecord,
  reopenPullRequest,
  updatePullRequest,
} from './store.ts';

export const merge = mutation({
  name: 'pullRequest.merge',
  summary: 'Merges a pull request at the commit that was looked at',
  role: 'EDITOR',
  permission: 'pulls.merge',
  audit: 'pullRequest.merged',
  input: MergePullRequest,
  output: MergedPullRequest,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  // What was pushed stays pushed: whatever fails after it, the next look at the branch finds it merged.
  async prepare(ctx, input): Promise<Merged & { branchRemoved: boolean }> {
    const { binding, pull } = await findPull(ctx, input);
    const places = await asMerger(ctx, binding, pull.base);
    const facts = {
      reviews: await listReviews(ctx.db, [pull.id]),
      requiredApprovals: approvalsFor(places, pull.base),
      mayPush: true,
    };
    // Reviews count for the commit that is merged; whether both go together is looked at now.
    const asked = { ...pull, headSha: input.headSha, mergeable: 'unknown' as const };
    const refusal = mergeRefusal(asked, facts);
    if (refusal) throw refusal;
    const { method, headSha } = input;
    const merged = await ctx.services.pullRequests.merge(ctx, binding, pull, { method, headSha });
    const branchRemoved =
      input.deleteBranch !== false &&
      (await mayGo(ctx, pull, places)) &&
      (await ctx.services.pullRequests.removeBranch(ctx, binding, { branch: pull.branch, headSha }));
    return { ...merged, branchRemoved };
  },
  async run(ctx, input, { mergeSha, baseSha, method, branchRemoved }) {
    const { pull } = await lockPull(ctx, input);
    const { headSha } = input;
    // It was in already, and somebody has written down how.
    if (method === null) refuseOver(pull);
    const mergedBy = method === null ? null : whoIs(ctx).name;
    await endPullRequest(ctx.db, pull.id, {
      ...{ state: 'merged', headSha, mergeSha, mergeMethod: method, mergedBy },
      ...(method === null ? {} : { baseSha }),
    });
    audited(ctx, pull, { method, headSha, mergeSha, branchRemoved }, mergeSha);
    await notifyPullRequest(ctx, pull, 'merged', { branchMoved: true });
    return { number: pull.number, mergeSha };
  },
});

/** What the forge asks for holds: approvals, checks, conversations. */
export const autoMerge = mutation({
  name: 'pullRequest.autoMerge',
  summary: 'Has the forge merge a pull request once its checks have passed, or no longer',
  role: 'EDITOR',
  audit: 'pullRequest.autoMergeChanged',
  input: AutoMergePullRequest,
  output: ChangedPullRequest,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async prepare(ctx, { enabled, headSha, method = 'merge', ...which }) {
    const { binding, pull } = await findPull(ctx, which);
    await asMerger(ctx, binding, pull.base);
    refuseOver(pull);
    if (pull.headSha !== headSha) throw moved(pull);
    await ctx.services.pullRequests.autoMerge(ctx, binding, pull, enabled ? { headSha, method } : null);
  },
  async run(ctx, { enabled, headSha, method = 'merge', ...which }) {
    const { pull } = await lockPull(ctx, which);
    if (pull.state === 'open') await updatePullRequest(ctx.db, pull.id, { autoMerge: enabled });
    audited(ctx, pull, { enabled, headSha, ...(enabled ? { method } : {}) });
    await notifyPullRequest(ctx, pull, 'to be merged by its forge');
    return { number: pull.number };
  },
});

const moved = ({ branch, headSha }: PullRequestRecord) =>
  conflict(`"${branch}" stands at ${headSha.slice(0, 7)} by now; look at what was pushed, and ask again`);

/** A branch that an environment is bound to stays, and one that is still asked for. */
const mayGo = async (
  ctx: Context,
  pull: PullRequestRecord,
  places: readonly BoundBranch[],
): Promise<boolean> => !places.some(({ ref }) => ref === pull.branch) && !(await isWanted(ctx.db, pull));

export const close = mutation({
  name: 'pullRequest.close',
  summary: 'Closes a pull request without merging it, also on its forge',
  role: 'EDITOR',
  audit: 'pullRequest.closed',
  input: WhichPullRequest,
  output: ChangedPullRequest,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async prepare(ctx, input) {
    const { binding, pull } = await findPull(ctx, input);
    await asPusher(ctx, binding);
    refuseOver(pull);
    if (pull.forge !== 'headgate') await ctx.services.pullRequests.close(ctx, binding, pull);
  },
  async run(ctx, input) {
    const { pull } = await lockPull(ctx, input);
    if (pull.forge === 'headgate') {
      refuseOver(pull);
      await endPullRequest(ctx.db, pull.id, { state: 'closed' });
    }
    audited(ctx, pull, { headSha: pull.headSha });
    await notifyPullRequest(ctx, pull, 'closed');
    return { number: pull.number };
  },
});

/** @throws PRECONDITION_FAILED */
function refuseOver({ number, state }: PullRequestRecord): void {
  if (state !== 'open') throw preconditionFailed(`#${number} is ${state} already`);
}

export const reopen = mutation({
  name: 'pullRequest.reopen',
  summary: 'Takes a closed pull request up again, where its branch stands now',
  role: 'EDITOR',
  audit: 'pullRequest.reopened',
  input: WhichPullRequest,
  output: ChangedPullRequest,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async prepare(ctx, input) {
    const { binding, pull } = await findPull(ctx, input);
    await asPusher(ctx, binding);
    refuseUnlessClosed(pull);
    const { branch, base } = pull;
    const same = await findOpen(ctx.db, pullRequestsOf(binding), branch);
    if (same) throw conflict(`#${same.number} asks for "${branch}" already; go on there`);
    const { pullRequests } = ctx.services;
    const standing = await pullRequests.look(ctx, binding, { branch, base });
    const isBack = standing === null && (await pullRequests.restoreBranch(ctx, binding, pull));
    return mergeable(
      isBack ? await pullRequests.look(ctx, binding, { branch, base }) : standing,
      branch,
      base,
    );
  },
  async run(ctx, input, standing) {
    const { pull } = await lockPull(ctx, input);
    refuseUnlessClosed(pull);
    try {
      await reopenPullRequest(ctx.db, pull.id);
    } catch (error) {
      if (error instanceof AlreadyOpenError) throw conflict(`Another one asks for "${pull.branch}" already`);
      throw error;
    }
    await notePullRequest(ctx.db, pull.id, standing);
    audited(ctx, pull, { headSha: standing.headSha });
    await notifyPullRequest(ctx, pull, 'reopened');
    return { number: pull.number };
  },
});

/** @throws PRECONDITION_FAILED */
function refuseUnlessClosed(pull: PullRequestRecord): void {
  const refusal = elsewhere(pull);
  if (refusal) throw refusal;
  if (pull.state === 'open') throw preconditionFailed(`#${pull.number} is open`);
  if (pull.state === 'merged')
    throw preconditionFailed(`#${pull.number} is merged; open a new one for what is to come`);
}

export const refresh = mutation({
  name: 'pullRequest.refresh',
  summary: 'Brings the base into the branch, by a commit on top of it',
  role: 'EDITOR',
  audit: 'pullRequest.refreshed',
  input: WhichPullRequest,
  output: ChangedPullRequest,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async prepare(ctx, input: Which) {
    const { binding, pull } = await findPull(ctx, input);
    const places = await asPusher(ctx, binding);
    const refusal = elsewhere(pull);
    if (refusal) throw refusal;
    if (pull.state !== 'open') refuseOver(pull);
    if (protectedBranches(places).has(pull.branch))
      throw preconditionFailed(
        `"${pull.branch}" is protected; open a pull request that asks for ${pull.base} to be merged into it`,
      );
    return ctx.services.pullRequests.refresh(ctx, binding, pull);
  },
  async run(ctx, input, { headSha, baseSha }) {
    const { pull } = await lockPull(ctx, input);
    if (pull.state === 'open')
      await notePullRequest(ctx.db, pull.id, { headSha, baseSha, mergeable: 'clean', conflicts: [] });
    // Where nobody else had pushed to the branch, it still holds nothing but our work.
    if (pull.pushedSha === pull.headSha) await updatePullRequest(ctx.db, pull.id, { pushedSha: headSha });
    audited(ctx, pull, { headSha, baseSha }, headSha);
    await notifyPullRequest(ctx, pull, 'refreshed');
    return { number: pull.number };
  },
});
