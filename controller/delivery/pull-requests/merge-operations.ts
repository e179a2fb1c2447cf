/** Merging, closing, reopening and updating pull requests. */
import {
  AutoMergePullRequest,
  ChangedPullRequest,
  MergedPullRequest,
  MergePullRequest,
  WhichPullRequest,
} from '../../../schemas/api/delivery/pull-requests.ts';
import { environmentScope } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { conflict, preconditionFailed } from '../../platform/operation/errors.ts';
import { mutation } from '../../platform/operation/operation.ts';
import {
  assertMayMerge,
  assertMayPush,
  audited,
  findPull,
  identityOf,
  lockPull,
  notifyPullRequest,
  type Which,
} from './access.ts';
import {
  AlreadyOpenError,
  endPullRequest,
  notePullRequest,
  reopenPullRequest,
  updatePullRequest,
} from './changes-store.ts';
import { listReviews } from './comments-store.ts';
import type { Merged } from './gateway.ts';
import { pullRequestsOf } from './repository-of-binding.ts';
import { approvalsFor, type BoundBranch, protectedBranches } from './repository-queries.ts';
import { forgeRefusal, mergeable, mergeRefusal } from './rules.ts';
import { findOpen, isBranchInUse, type PullRequestRecord } from './store.ts';

export const merge = mutation({
  name: 'pullRequest.merge',
  summary: 'Merges a pull request at the commit that was reviewed',
  role: 'EDITOR',
  permission: 'pulls.merge',
  audit: 'pullRequest.merged',
  input: MergePullRequest,
  output: MergedPullRequest,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  // A push is final: if a later step fails, the next read of the branch finds it merged.
  async prepare(ctx, input): Promise<Merged & { branchRemoved: boolean }> {
    const { binding, pull } = await findPull(ctx, input);
    const branches = await assertMayMerge(ctx, binding, pull.base);
    const facts = {
      reviews: await listReviews(ctx.db, [pull.id]),
      requiredApprovals: approvalsFor(branches, pull.base),
      mayPush: true,
    };
    // Reviews count for the commit that is merged; `merge` itself finds conflicts.
    const asked = { ...pull, headSha: input.headSha, mergeable: 'unknown' as const };
    const refusal = mergeRefusal(asked, facts);
    if (refusal) throw refusal;
    const { method, headSha } = input;
    const merged = await ctx.services.pullRequests.merge(ctx, binding, pull, { method, headSha });
    const branchRemoved =
      input.deleteBranch !== false &&
      (await mayDeleteBranch(ctx, pull, branches)) &&
      (await ctx.services.pullRequests.removeBranch(ctx, binding, { branch: pull.branch, headSha }));
    return { ...merged, branchRemoved };
  },
  async run(ctx, input, { mergeSha, baseSha, method, branchRemoved }) {
    const { pull } = await lockPull(ctx, input);
    const { headSha } = input;
    // It was merged already, and somebody has recorded how.
    if (method === null) assertOpen(pull);
    const mergedBy = method === null ? null : identityOf(ctx).name;
    await endPullRequest(ctx.db, pull.id, {
      ...{ state: 'merged', headSha, mergeSha, mergeMethod: method, mergedBy },
      ...(method === null ? {} : { baseSha }),
    });
    audited(ctx, pull, { method, headSha, mergeSha, branchRemoved }, mergeSha);
    await notifyPullRequest(ctx, pull, 'merged', { branchMoved: true });
    return { number: pull.number, mergeSha };
  },
});

/** The forge enforces its own rules: approvals, checks, conversations. */
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
    await assertMayMerge(ctx, binding, pull.base);
    assertOpen(pull);
    if (pull.headSha !== headSha) throw headMoved(pull);
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

const headMoved = ({ branch, headSha }: PullRequestRecord) =>
  conflict(`"${branch}" is at ${headSha.slice(0, 7)} now; review the new commits, and repeat the request`);

/** A branch stays that an environment is bound to, or that another pull request still uses. */
const mayDeleteBranch = async (
  ctx: Context,
  pull: PullRequestRecord,
  branches: readonly BoundBranch[],
): Promise<boolean> =>
  !branches.some(({ ref }) => ref === pull.branch) && !(await isBranchInUse(ctx.db, pull));

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
    await assertMayPush(ctx, binding);
    assertOpen(pull);
    if (pull.forge !== 'headgate') await ctx.services.pullRequests.close(ctx, binding, pull);
  },
  async run(ctx, input) {
    const { pull } = await lockPull(ctx, input);
    if (pull.forge === 'headgate') {
      assertOpen(pull);
      await endPullRequest(ctx.db, pull.id, { state: 'closed' });
    }
    audited(ctx, pull, { headSha: pull.headSha });
    await notifyPullRequest(ctx, pull, 'closed');
    return { number: pull.number };
  },
});

/** @throws PRECONDITION_FAILED */
function assertOpen({ number, state }: PullRequestRecord): void {
  if (state !== 'open') throw preconditionFailed(`#${number} is ${state} already`);
}

export const reopen = mutation({
  name: 'pullRequest.reopen',
  summary: 'Reopens a closed pull request at the present head of its branch',
  role: 'EDITOR',
  audit: 'pullRequest.reopened',
  input: WhichPullRequest,
  output: ChangedPullRequest,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async prepare(ctx, input) {
    const { binding, pull } = await findPull(ctx, input);
    await assertMayPush(ctx, binding);
    assertClosed(pull);
    const { branch, base } = pull;
    const same = await findOpen(ctx.db, pullRequestsOf(binding), branch);
    if (same) throw conflict(`#${same.number} asks for "${branch}" already; go on there`);
    const { pullRequests } = ctx.services;
    const state = await pullRequests.readMergeState(ctx, binding, { branch, base });
    const isBack = state === null && (await pullRequests.restoreBranch(ctx, binding, pull));
    return mergeable(
      isBack ? await pullRequests.readMergeState(ctx, binding, { branch, base }) : state,
      branch,
      base,
    );
  },
  async run(ctx, input, state) {
    const { pull } = await lockPull(ctx, input);
    assertClosed(pull);
    try {
      await reopenPullRequest(ctx.db, pull.id);
    } catch (error) {
      if (error instanceof AlreadyOpenError) throw conflict(`Another one asks for "${pull.branch}" already`);
      throw error;
    }
    await notePullRequest(ctx.db, pull.id, state);
    audited(ctx, pull, { headSha: state.headSha });
    await notifyPullRequest(ctx, pull, 'reopened');
    return { number: pull.number };
  },
});

/** @throws PRECONDITION_FAILED */
function assertClosed(pull: PullRequestRecord): void {
  const refusal = forgeRefusal(pull);
  if (refusal) throw refusal;
  if (pull.state === 'open') throw preconditionFailed(`#${pull.number} is open`);
  if (pull.state === 'merged')
    throw preconditionFailed(`#${pull.number} is merged; open a new one for further changes`);
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
    const branches = await assertMayPush(ctx, binding);
    const refusal = forgeRefusal(pull);
    if (refusal) throw refusal;
    if (pull.state !== 'open') assertOpen(pull);
    if (protectedBranches(branches).has(pull.branch))
      throw preconditionFailed(
        `"${pull.branch}" is protected; open a pull request that asks for ${pull.base} to be merged into it`,
      );
    return ctx.services.pullRequests.refresh(ctx, binding, pull);
  },
  async run(ctx, input, { headSha, baseSha }) {
    const { pull } = await lockPull(ctx, input);
    if (pull.state === 'open')
      await notePullRequest(ctx.db, pull.id, { headSha, baseSha, mergeable: 'clean', conflicts: [] });
    // If nobody else pushed to the branch, it still holds nothing but Headgate's own work.
    if (pull.pushedSha === pull.headSha) await updatePullRequest(ctx.db, pull.id, { pushedSha: headSha });
    audited(ctx, pull, { headSha, baseSha }, headSha);
    await notifyPullRequest(ctx, pull, 'refreshed');
    return { number: pull.number };
  },
});
