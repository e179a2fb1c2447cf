/** Merges Headgate's own pull requests: the commit is built without a work tree and pushed by compare and swap. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  conflictRefusal,
  type Merge,
  type Merged,
  type PullRequestRecord,
} from '../../../controller/delivery/pull-requests/index.ts';
import { conflict, preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import type { MergeMethod } from '../../../schemas/api/delivery/pull-requests.ts';
import { mergeMessage, squashMessage } from '../../merge/commit-messages.ts';
import { readCommits, writeCommit } from '../../merge/commit-objects.ts';
import { type MergeEnds, type ObservedMerge, observeMerge } from '../../merge/merge-result.ts';
import { rebaseCommits } from '../../merge/rebase-commits.ts';
import { findBranchTip, type Workspace } from '../../merge/workspace.ts';

const ATTEMPTS = 20;
const PAUSE_MS = 50;
const MAX_PAUSE_FACTOR = 6;
const MAX_SQUASHED = 500;

/**
 * Retries when the base moves meanwhile, but not when the head moves: the user reviewed only that head.
 * @throws CONFLICT, PRECONDITION_FAILED, RepositoryError
 */
export function mergePullRequest(
  workspace: Workspace,
  pull: PullRequestRecord,
  request: Merge,
): Promise<Merged> {
  return workspace.handle.serialize(pull.base, () => mergeWithRetries(workspace, pull, request));
}

async function mergeWithRetries(
  workspace: Workspace,
  pull: PullRequestRecord,
  request: Merge,
): Promise<Merged> {
  const { handle, git, signal } = workspace;
  const ref = `refs/heads/${pull.base}`;
  for (let count = 1; count <= ATTEMPTS; count += 1) {
    signal.throwIfAborted();
    const { base, head } = await readEnds(workspace, pull);
    // The last known head of a deleted branch counts: another user may have merged it.
    if ((head ?? pull.headSha) !== request.headSha)
      throw conflict(
        `"${pull.branch}" is at ${head?.slice(0, 7) ?? 'no commit'} now; review the new commits, and merge those`,
      );
    const observed = await observeMerge(git, { base, head: request.headSha });
    if (observed.isIn) return { mergeSha: base, baseSha: base, method: null };
    if (head === null)
      throw conflict(`"${pull.branch}" is deleted, and its commits are not in "${pull.base}"`);
    assertMergeable(pull, observed);
    const sha = await writeMergeCommit(workspace, pull, { base, head }, observed, request.method);
    if (sha === null) throw preconditionFailed('No change is left to merge; close the pull request');
    if ((await handle.push({ ref, sha, expect: base }, signal)) === 'ok')
      return { mergeSha: sha, baseSha: base, method: request.method };
    await sleep(PAUSE_MS * Math.min(count, MAX_PAUSE_FACTOR) * (0.5 + Math.random()), undefined, { signal });
  }
  throw conflict(`Others pushed to "${pull.base}" during each attempt to merge; try again`);
}

/** The heads of both branches in the repository itself; `head` is null where the branch is gone. @throws CONFLICT */
export async function readEnds(
  { handle, git, signal }: Workspace,
  { base, branch }: Pick<PullRequestRecord, 'base' | 'branch'>,
): Promise<{ base: string; head: string | null }> {
  const heads = await handle.meet({ base, head: branch }, signal);
  // A mirror may be stale: the next pass, or the push, notices a branch that moved.
  const resolveHead = async (one: string) => {
    const sha = heads.get(one);
    return sha === undefined ? null : handle.kind === 'embedded' ? sha : findBranchTip(git, one);
  };
  const [baseSha, headSha] = [await resolveHead(base), await resolveHead(branch)];
  if (baseSha === null) throw conflict(`The branch "${base}" no longer exists in the repository`);
  return { base: baseSha, head: headSha };
}

function assertMergeable(
  pull: PullRequestRecord,
  { mergeBase, tree, conflicts, changesNothing }: ObservedMerge,
): void {
  if (mergeBase === null)
    throw preconditionFailed(
      `"${pull.branch}" and "${pull.base}" have no history in common; start the branch from "${pull.base}"`,
    );
  if (changesNothing)
    throw preconditionFailed('The pull request changes no file; close it, or push a commit that does');
  if (tree === null) throw conflictRefusal({ base: pull.base, conflicts });
}

async function writeMergeCommit(
  { git, author, committer }: Workspace,
  pull: PullRequestRecord,
  { base, head }: MergeEnds,
  { tree }: ObservedMerge,
  method: MergeMethod,
): Promise<string | null> {
  if (tree === null) return null;
  switch (method) {
    case 'merge':
      return writeCommit(git, {
        tree,
        parents: [base, head],
        message: mergeMessage(pull),
        author,
        committer,
      });
    case 'squash': {
      const commits = await readCommits(git, [`--max-count=${MAX_SQUASHED}`, `${base}..${head}`]);
      const message = squashMessage(pull, commits, author);
      return writeCommit(git, { tree, parents: [base], message, author, committer });
    }
    case 'rebase':
      return rebaseCommits(git, { base, head }, pull, committer);
  }
}
