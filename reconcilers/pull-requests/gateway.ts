/** Operations on pull requests, whether Headgate keeps them or a forge. */
import { type Binding, pullRequestSettings } from '../../controller/delivery/bindings/index.ts';
import {
  AlreadyOpenError,
  addContributor,
  findOpen,
  findPullRequest,
  insertComment,
  insertPullRequest,
  mirrorPullRequest,
  type NewPullRequest,
  type PullRequestGateway,
  type PullRequestRecord,
  pullRequestsOf,
  updatePullRequest,
} from '../../controller/delivery/pull-requests/index.ts';
import { duringWrite } from '../../controller/delivery/repository/index.ts';
import { nameOfActor } from '../../controller/platform/operation/actor-name.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import { messageOf, preconditionFailed, unavailable } from '../../controller/platform/operation/errors.ts';
import { toUserRetryMessage } from '../../controller/platform/operation/user-retry-message.ts';
import { type Forge, ForgeError } from '../forges/forge.ts';
import { type Forges, titleOf } from '../forges/index.ts';
import { createWorkspaceSlots, hasCommits, withWorkspace } from '../merge/workspace.ts';
import { renderPullRequest } from '../write-back/propose/pull-request-text.ts';
import { mergePullRequest } from './merge/merge-pull-request.ts';
import { listPullRequestCommits, readMergeState, readPullRequestDiff } from './merge/read-pull-request.ts';
import { type Resolve, refreshBranch } from './merge/refresh-branch.ts';
import { mirrored } from './mirror/mirrored-pull-request.ts';

type Request = Omit<NewPullRequest, 'bindingId' | 'repository'>;

export interface PullRequestGatewayOptions {
  forges: Pick<Forges, 'of'>;
  /** For pull requests of promotions. */
  resolve?: Resolve;
}

export function createPullRequestGateway({ forges, resolve }: PullRequestGatewayOptions): PullRequestGateway {
  const slots = createWorkspaceSlots();
  return {
    async open(ctx, binding, request) {
      const forge = forges.of(binding);
      const texts = { ...request, ...renderPullRequest(binding, request) };
      return forge ? openOnForge(ctx, binding, forge, texts) : openOwn(ctx, binding, texts);
    },
    async edit(ctx, binding, pull, change) {
      const forge = forges.of(binding);
      if (forge && pull.forge !== 'headgate') await callForge(() => forge.update(pull.number, change));
      await updatePullRequest(ctx.db, pull.id, change);
    },
    async comment(ctx, binding, pull, { marker, body }) {
      const forge = forges.of(binding);
      if (forge && pull.forge !== 'headgate')
        await callForge(() => forge.comment(pull.number, { marker, body, commentId: null }));
      else
        await insertComment(ctx.db, {
          ...{ pullRequestId: pull.id, author: nameOfActor(ctx.actor), authorId: null, body, marker },
        });
    },
    async close(ctx, binding, pull) {
      const forge = forges.of(binding);
      if (forge && pull.forge !== 'headgate') await callForge(() => forge.close(pull.number));
      const now = await findPullRequest(ctx.db, pull.id);
      if (now?.state === 'open') await updatePullRequest(ctx.db, pull.id, { state: 'closed' });
    },
    readMergeState: (ctx, binding, ends) =>
      withWorkspace(slots, ctx, binding, (workspace) => readMergeState(workspace, ends)),
    diff: (ctx, binding, pull) =>
      withWorkspace(slots, ctx, binding, (workspace) => readPullRequestDiff(workspace, pull)),
    commits: (ctx, binding, pull) =>
      withWorkspace(slots, ctx, binding, (workspace) => listPullRequestCommits(workspace, pull)),
    merge: (ctx, binding, pull, how) =>
      withWorkspace(slots, ctx, binding, (workspace) =>
        duringWrite(ctx.db, workspace, () => mergePullRequest(workspace, pull, how)),
      ),
    refresh: (ctx, binding, pull) =>
      withWorkspace(slots, ctx, binding, (workspace) =>
        duringWrite(ctx.db, workspace, () =>
          refreshBranch(workspace, pull, 'promotionId' in pull.subject ? (resolve ?? null) : null),
        ),
      ),
    async removeBranch(ctx, binding, { branch, headSha }) {
      const handle = ctx.services.repositories.of(binding);
      try {
        return (await handle.remove({ ref: `refs/heads/${branch}`, expect: headSha }, ctx.signal)) === 'ok';
      } catch (error) {
        // The pull request is over, or was not opened; a branch that stays does no harm.
        ctx.log.warn(
          { branch, reason: messageOf(error) },
          'a branch without an open pull request could not be deleted',
        );
        return false;
      }
    },
    async autoMerge(_ctx, binding, pull, wanted) {
      const forge = forges.of(binding);
      // Without auto-merge there is nothing to turn off.
      if (!forge?.autoMerge && wanted === null) return;
      if (!forge?.autoMerge)
        throw preconditionFailed(
          `${forge ? titleOf(binding) : 'Headgate'} has no such thing; merge it once its checks have passed`,
        );
      const { autoMerge } = forge;
      await callForge(() => autoMerge(pull.number, wanted));
    },
    restoreBranch: (ctx, binding, { branch, headSha }) =>
      withWorkspace(slots, ctx, binding, async ({ handle, git, signal }) => {
        if (!(await hasCommits(git, [headSha]))) return false;
        const restored = { ref: `refs/heads/${branch}`, sha: headSha, expect: null };
        return (await duringWrite(ctx.db, { handle, signal }, () => handle.push(restored, signal))) === 'ok';
      }),
  };
}

async function openOwn(ctx: Context, binding: Binding, request: Request): Promise<PullRequestRecord> {
  const { title, body, headSha, pushedSha } = request;
  const own = { ...request, bindingId: binding.id, repository: binding.repositoryUrl };
  try {
    return await insertPullRequest(ctx.db, own);
  } catch (error) {
    if (!(error instanceof AlreadyOpenError)) throw error;
  }
  const same = await findOpen(ctx.db, { ...pullRequestsOf(binding), base: request.base }, request.branch);
  // It was closed in between.
  if (!same) return insertPullRequest(ctx.db, own);
  const { repository, branch } = same;
  if (request.authorId !== null)
    await addContributor(ctx.db, { repository, branches: [branch], userId: request.authorId });
  await updatePullRequest(ctx.db, same.id, {
    ...{ title, body, headSha },
    ...(pushedSha === undefined ? {} : { pushedSha }),
  });
  return { ...same, title, body, headSha, pushedSha: pushedSha ?? same.pushedSha };
}

async function openOnForge(
  ctx: Context,
  binding: Binding,
  forge: Forge,
  { title, body, branch, base, ...ours }: Request,
): Promise<PullRequestRecord> {
  const { draft: isDraft, labels, reviewers, assignees } = pullRequestSettings(binding);
  const leftOut: string[] = [];
  const request = { title, body, branch, base, isDraft, labels, reviewers, assignees };
  const made = await callForge(() => forge.open(request, (sentence) => leftOut.push(sentence)));
  const { author, authorId, subject, pushedSha = null } = ours;
  const { record } = await mirrorPullRequest(ctx.db, {
    ...mirrored(binding, made),
    ...{ bindingId: binding.id, author, authorId, subject, pushedSha },
    ...(leftOut.length > 0 ? { notice: leftOut.join('. ').slice(0, MAX_NOTICE_CHARACTERS) } : {}),
  });
  return record;
}

const MAX_NOTICE_CHARACTERS = 1_000;

/** @throws PRECONDITION_FAILED, UNAVAILABLE */
async function callForge<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    throw error.fault === 'unavailable' || error.fault === 'rate-limited'
      ? unavailable(toUserRetryMessage(error.message))
      : preconditionFailed(toUserRetryMessage(error.message));
  }
}
