/**
 * Deletes the branches of promotions whose pull request is merged or closed, unless the binding turns that off. By compare and
 * swap: a branch that has moved since its pull request ended stays.
 */
import type { Knex } from 'knex';
import { type Binding, pullRequestSettings } from '../../../controller/delivery/bindings/index.ts';
import {
  claimBranch,
  findPullRequest,
  isBranchInUse,
  listBoundBranches,
  listUnsettledBranches,
  type PullRequestRecord,
  pullRequestsOf,
  releaseBranch,
} from '../../../controller/delivery/pull-requests/index.ts';
import {
  RepositoryError,
  type RepositoryFault,
  type RepositoryHandle,
} from '../../../controller/delivery/repository/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import type { Forge } from '../../forges/forge.ts';

/** In one pass. */
const MAX_BRANCHES = 20;
/** Faults that may be gone in the next pass. */
const TRANSIENT: readonly RepositoryFault[] = [
  'unreachable',
  'timeout',
  'asked-to-wait',
  'server',
  'disk',
  'copy',
];

/** `forge` is null where Headgate keeps the pull requests. */
export async function deleteEndedBranches(
  ctx: Context,
  binding: Binding,
  forge: Pick<Forge, 'usesBranch'> | null,
): Promise<void> {
  if (!pullRequestSettings(binding).deleteBranches) return;
  const of = { ...pullRequestsOf(binding), bindingId: binding.id };
  const ended = await listUnsettledBranches(ctx.db, of, MAX_BRANCHES);
  if (ended.length === 0) return;
  const followed = new Set(
    (await listBoundBranches(ctx.db, binding.repositoryUrl, binding.environmentId)).map(({ ref }) => ref),
  );
  const handle = ctx.services.repositories.of(binding);
  const fenced = <T>(work: (tx: Knex) => Promise<T>): Promise<T> =>
    ctx.db.transaction(async (tx) => {
      await ctx.fence?.(tx);
      return work(tx);
    });
  for (const pull of ended) {
    ctx.signal.throwIfAborted();
    // The pull request may have been reopened.
    if (!(await fenced((tx) => claimBranch(tx, pull)))) continue;
    if (keepsBranch(pull) || followed.has(pull.branch) || (await isBranchInUse(ctx.db, pull))) continue;
    try {
      // Headgate does not know pull requests against unbound bases, nor a reopening that is not mirrored yet.
      if (await forge?.usesBranch(pull.branch)) continue;
      await remove(ctx, handle, pull);
    } catch (error) {
      const isTransient = !(error instanceof RepositoryError) || TRANSIENT.includes(error.fault);
      if (isTransient) await fenced((tx) => releaseBranch(tx, pull));
      if (!(error instanceof RepositoryError)) throw error;
      // The other branches are on the same server.
      if (isTransient) return;
      const { branch, number } = pull;
      ctx.log.warn(
        { branch, number, reason: error.message },
        'the branch of an ended promotion could not be deleted',
      );
    }
  }
}

async function remove(ctx: Context, handle: RepositoryHandle, pull: PullRequestRecord): Promise<void> {
  const { id, branch, headSha, number } = pull;
  const ref = `refs/heads/${branch}`;
  const end = await handle.remove({ ref, expect: headSha }, ctx.signal);
  ctx.log.info({ branch, number, deleted: end === 'ok' }, 'branch of an ended promotion');
  // Restore the branch where the pull request was reopened in between.
  if (end === 'ok' && (await findPullRequest(ctx.db, id))?.state === 'open')
    await handle.push({ ref, sha: headSha, expect: null }, ctx.signal);
}

/** A user who merged it in Headgate chose whether to delete the branch. Unmerged commits of other users exist only on the branch. */
const keepsBranch = ({ forge, state, mergeMethod, headSha, pushedSha }: PullRequestRecord): boolean =>
  state === 'merged' ? forge === 'headgate' && mergeMethod !== null : headSha !== pushedSha;
