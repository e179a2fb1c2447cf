/** Merges of pull requests that are kept here: built beside the branch, and pushed by compare and swap. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  conflictRefusal,
  type Merge,
  type Merged,
  type PullRequestRecord,
} from '../../../controller/delivery/pull-requests/index.ts';
import { createKeyedMutex } from '../../../controller/delivery/repository/index.ts';
import { conflict, preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import type { MergeMethod } from '../../../schemas/api/pull-requests.ts';
import { mergeMessage, squashMessage } from '../../merge/commit-messages.ts';
import { readCommits, writeCommit } from '../../merge/commit-objects.ts';
import { type Ends, type ObservedMerge, observeMerge } from '../../merge/merge-result.ts';
import { rebased } from '../../merge/rebase.ts';
import { tipOf, type Workspace } from '../../merge/workspace.ts';

const ATTEMPTS = 20;
const PAUSE_MS = 50;
const LONGEST_PAUSES = 6;
const MOST_SQUASHED = 500;

/** Merges of one controller wait for one another rather than lose to one another. */
const turns = createKeyedMutex();

/**
 * From the beginning again where the base moved meanwhile; never where the head did: that is what somebody looked at.
 * @throws CONFLICT, PRECONDITION_FAILED, RepositoryError
 */
export function mergePull(bench: Workspace, pull: PullRequestRecord, how: Merge): Promise<Merged> {
  return turns.take(`${bench.handle.gitdir}\0${pull.base}`, () => attempt(bench, pull, how));
}

async function attempt(bench: Workspace, pull: PullRequestRecord, how: Merge): Promise<Merged> {
  const { handle, git, signal } = bench;
  const ref = `refs/heads/${pull.base}`;
  for (let count = 1; count <= ATTEMPTS; count += 1) {
    signal.throwIfAborted();
    const { base, head } = await bothEnds(bench, pull);
    // Where its branch is gone, what was looked at last counts: somebody else has merged it.
    if ((head ?? pull.headSha) !== how.headSha)
      throw conflict(
        `"${pull.branch}" stands at ${head?.slice(0, 7) ?? 'no commit'} by now; look at what is new, and merge that`,
      );
    const seen = await observeMerge(git, { base, head: how.headSha });
    if (seen.isIn) return { mergeSha: base, baseSha: base, method: null };
    if (head === null) throw conflict(`"${pull.branch}" is gone, and what it held is not in "${pull.base}"`);
    refuse(pull, seen);
    const made = await commitOf(bench, pull, { base, head }, seen, how.method);
    if (made === null) throw preconditionFailed('Nothing of it is left to merge; close it');
    if ((await handle.push({ ref, sha: made, expect: base }, signal)) === 'ok')
      return { mergeSha: made, baseSha: base, method: how.method };
    await sleep(PAUSE_MS * Math.min(count, LONGEST_PAUSES) * (0.5 + Math.random()), undefined, { signal });
  }
  throw conflict(`Others pushed to "${pull.base}" each time that this was to be merged; try again`);
}

/** Where both stand where the repository lives; `head` is null for a branch that is gone. @throws CONFLICT */
export async function bothEnds(
  { handle, git, signal }: Workspace,
  { base, branch }: Pick<PullRequestRecord, 'base' | 'branch'>,
): Promise<{ base: string; head: string | null }> {
  const there = await handle.meet({ base, head: branch }, signal);
  // Of a copy, what it holds: a branch that moved since is looked at next time, or found out by the push.
  const at = async (one: string) => {
    const sha = there.get(one);
    return sha === undefined ? null : handle.kind === 'embedded' ? sha : tipOf(git, one);
  };
  const [baseAt, headAt] = [await at(base), await at(branch)];
  if (baseAt === null) throw conflict(`The branch "${base}" does not exist in the repository any more`);
  return { base: baseAt, head: headAt };
}

function refuse(
  pull: PullRequestRecord,
  { mergeBase, tree, conflicts, changesNothing }: ObservedMerge,
): void {
  if (mergeBase === null)
    throw preconditionFailed(
      `"${pull.branch}" and "${pull.base}" have no history in common; begin the branch at "${pull.base}"`,
    );
  if (changesNothing) throw preconditionFailed('It changes no file; close it, or push a commit that does');
  if (tree === null) throw conflictRefusal({ base: pull.base, conflicts });
}

async function commitOf(
  { git, author, committer }: Workspace,
  pull: PullRequestRecord,
  { base, head }: Ends,
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
      const commits = await readCommits(git, [`--max-count=${MOST_SQUASHED}`, `${base}..${head}`]);
      const message = squashMessage(pull, commits, author);
      return writeCommit(git, { tree, parents: [base], message, author, committer });
    }
    case 'rebase':
      return rebased(git, { base, head }, pull, committer);
  }
}
