/**
 * Deletes the branches of promotions whose pull request is merged or closed, where the binding does not say otherwise. By
 * compare and swap: a branch that stands elsewhere than the pull request ended stays.
 */
import { type Binding, pullRequestSettings } from '../../controller/git-sync/index.ts';
import type { Context } from '../../controller/platform/context.ts';
import {
  boundTo,
  isWanted,
  listUnsettledBranches,
  type PullRequestRecord,
  pullRequestsOf,
  settleBranch,
} from '../../controller/pull-requests/index.ts';
import { RepositoryError, type RepositoryFault } from '../../controller/repository/index.ts';

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

export async function deleteEndedBranches(ctx: Context, binding: Binding): Promise<void> {
  if (!pullRequestSettings(binding).deleteBranches) return;
  const ended = await listUnsettledBranches(ctx.db, pullRequestsOf(binding), MOST);
  if (ended.length === 0) return;
  const followed = new Set(
    (await boundTo(ctx.db, binding.repositoryUrl, binding.environmentId)).map(({ ref }) => ref),
  );
  const handle = ctx.services.repositories.of(binding);
  for (const pull of ended) {
    const { branch, headSha, number } = pull;
    ctx.signal.throwIfAborted();
    if (!keeps(pull) && !followed.has(branch) && !(await isWanted(ctx.db, pull))) {
      try {
        const end = await handle.remove({ ref: `refs/heads/${branch}`, expect: headSha }, ctx.signal);
        ctx.log.info({ branch, number, deleted: end === 'ok' }, 'branch of an ended promotion');
      } catch (error) {
        if (!(error instanceof RepositoryError)) throw error;
        // The next branches are of the same server.
        if (PASSING.includes(error.fault)) return;
        ctx.log.warn({ branch, number, reason: error.message }, 'the branch of an ended promotion stays');
      }
    }
    await ctx.db.transaction(async (tx) => {
      await ctx.fence?.(tx);
      await settleBranch(tx, pull);
    });
  }
}

/** Whoever merged it here has chosen; and what others pushed, and nobody merged, is on the branch alone. */
const keeps = ({ forge, state, mergeMethod, headSha, pushedSha }: PullRequestRecord): boolean =>
  state === 'merged' ? forge === 'headgate' && mergeMethod !== null : headSha !== pushedSha;
