/**
 * Deletes the branches of promotions whose pull request is merged or closed, where the binding does not say otherwise. By
 * compare and swap: a branch that stands elsewhere than the pull request ended stays.
 */
import type { Knex } from 'knex';
import { type Binding, pullRequestSettings } from '../../../controller/delivery/bindings/index.ts';
import {
  boundTo,
  claimBranch,
  findPullRequest,
  isWanted,
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

const MOST = 20;
/** Faults that may be over at the next pass. */
const PASSING: readonly RepositoryFault[] = [
  'unreachable',
  'timeout',
  'asked-to-wait',
  'server',
  'disk',
  'copy',
];

/** `forge` is null where pull requests are kept here. */
export async function deleteEndedBranches(
  ctx: Context,
  binding: Binding,
  forge: Pick<Forge, 'usesBranch'> | null,
): Promise<void> {
  if (!pullRequestSettings(binding).deleteBranches) return;
  const of = { ...pullRequestsOf(binding), bindingId: binding.id };
  const ended = await listUnsettledBranches(ctx.db, of, MOST);
  if (ended.length === 0) return;
  const followed = new Set(
    (await boundTo(ctx.db, binding.repositoryUrl, binding.environmentId)).map(({ ref }) => ref),
  );
  const handle = ctx.services.repositories.of(binding);
  const fenced = <T>(work: (tx: Knex) => Promise<T>): Promise<T> =>
    ctx.db.transaction(async (tx) => {
      await ctx.fence?.(tx);
      return work(tx);
    });
  for (const pull of ended) {
    ctx.signal.throwIfAborted();
    // It may be open again by now.
    if (!(await fenced((tx) => claimBranch(tx, pull)))) continue;
    if (keeps(pull) || followed.has(pull.branch) || (await isWanted(ctx.db, pull))) continue;
    try {
      // Against bases that nobody is bound to there may be others; and this one may be open there again.
      if (await forge?.usesBranch(pull.branch)) continue;
      await remove(ctx, handle, pull);
    } catch (error) {
      const passes = !(error instanceof RepositoryError) || PASSING.includes(error.fault);
      if (passes) await fenced((tx) => releaseBranch(tx, pull));
      if (!(error instanceof RepositoryError)) throw error;
      // The next branches are of the same server.
      if (passes) return;
      const { branch, number } = pull;
      ctx.log.warn({ branch, number, reason: error.message }, 'the branch of an ended promotion stays');
    }
  }
}

async function remove(ctx: Context, handle: RepositoryHandle, pull: PullRequestRecord): Promise<void> {
  const { id, branch, headSha, number } = pull;
  const ref = `refs/heads/${branch}`;
  const end = await handle.remove({ ref, expect: headSha }, ctx.signal);
  ctx.log.info({ branch, number, deleted: end === 'ok' }, 'branch of an ended promotion');
  // Opened again in this very moment.
  if (end === 'ok' && (await findPullRequest(ctx.db, id))?.state === 'open')
    await handle.push({ ref, sha: headSha, expect: null }, ctx.signal);
}

/** Whoever merged it here has chosen; and what others pushed, and nobody merged, is on the branch alone. */
const keeps = ({ forge, state, mergeMethod, headSha, pushedSha }: PullRequestRecord): boolean =>
  state === 'merged' ? forge === 'headgate' && mergeMethod !== null : headSha !== pushedSha;
