/** Reads Headgate's own pull requests from the repository: merge state, diff and commits. */
import type { MergeState, PullRequestRecord } from '../../../controller/delivery/pull-requests/index.ts';
import { RepositoryError } from '../../../controller/delivery/repository/index.ts';
import { preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import type { PullRequest, PullRequestDiff } from '../../../schemas/api/delivery/pull-requests.ts';
import { findMergeBase, type MergeEnds, observeMerge } from '../../merge/merge-result.ts';
import { findBranchTip, hasCommits, type Workspace } from '../../merge/workspace.ts';
import { readDiff } from './diff.ts';
import { readEnds } from './merge-pull-request.ts';

/** Null where the branch is deleted. */
export async function readMergeState(
  workspace: Workspace,
  { branch, base: baseBranch }: Pick<PullRequestRecord, 'branch' | 'base'>,
): Promise<MergeState | null> {
  const { base, head } = await readEnds(workspace, { branch, base: baseBranch });
  if (head === null) return null;
  const { mergeBase, conflicts, tree, isIn, changesNothing } = await observeMerge(workspace.git, {
    base,
    head,
  });
  const mergeable = tree === null ? 'conflict' : 'clean';
  return { headSha: head, baseSha: base, mergeBase, mergeable, conflicts, isIn, changesNothing };
}

type Pull = Pick<PullRequestRecord, 'state' | 'forge' | 'isFork' | 'branch' | 'base' | 'headSha' | 'baseSha'>;

/** The ends of a closed pull request are those that were stored last. */
async function storedEnds({ git }: Workspace, pull: Pull): Promise<MergeEnds | null> {
  const base = pull.state === 'open' ? await findBranchTip(git, pull.base) : pull.baseSha;
  return base === null ? null : { base, head: pull.headSha };
}

/** @throws PRECONDITION_FAILED */
export async function readPullRequestDiff(workspace: Workspace, pull: Pull): Promise<PullRequestDiff> {
  const { git, handle, signal } = workspace;
  const findConnectedEnds = async () => {
    const ends = await storedEnds(workspace, pull);
    if (ends === null || !(await hasCommits(git, [ends.base, ends.head]))) return null;
    const mergeBase = await findMergeBase(git, ends.base, ends.head);
    return mergeBase !== null && (await hasCommits(git, [mergeBase])) ? { head: ends.head, mergeBase } : null;
  };
  const tryConnectedEnds = async () =>
    findConnectedEnds().catch((error: unknown) => {
      // There is no copy before the first fetch.
      if (error instanceof RepositoryError && error.fault === 'copy') return null;
      throw error;
    });
  let ends = await tryConnectedEnds();
  if (ends === null && pull.state === 'open') {
    await (pull.isFork
      ? handle.fetch(signal, pull.headSha)
      : handle.meet({ base: pull.base, head: pull.branch }, signal));
    ends = await tryConnectedEnds();
  }
  if (ends === null)
    throw preconditionFailed(
      'Its commits are no longer in the repository, or have no history in common with its base; push the branch again',
    );
  const { files, filesTotal } = await readDiff(git, ends.mergeBase, ends.head);
  return { headSha: ends.head, mergeBase: ends.mergeBase, files, filesTotal };
}

/** A copy that has just fetched its base may lack the merge base: then the ends that were stored last. */
async function connectedEnds(workspace: Workspace, pull: Pull): Promise<MergeEnds | null> {
  const ends = await storedEnds(workspace, pull);
  if (ends === null || (await findMergeBase(workspace.git, ends.base, ends.head)) !== null) return ends;
  const { baseSha: base, headSha: head } = pull;
  if (base === null || (await findMergeBase(workspace.git, base, head)) === null) return null;
  return { base, head };
}

const MAX_COMMITS = 100;
const FIELDS = ['%H', '%an', '%s', '%cI'];
const NAME_CHARACTERS = 200;
const SUBJECT_CHARACTERS = 500;

/** The commits in the copy: a page does not fetch. */
export async function listPullRequestCommits(
  workspace: Workspace,
  pull: Pull,
): Promise<PullRequest['commits']> {
  try {
    const ends = await connectedEnds(workspace, pull);
    if (ends === null) return [];
    const { stdout } = await workspace.git([
      ...['log', '-z', `--max-count=${MAX_COMMITS}`, `--format=${FIELDS.join('%x00')}`],
      `${ends.base}..${ends.head}`,
    ]);
    const parts = stdout.split('\0');
    const commits: PullRequest['commits'] = [];
    for (let at = 0; at + FIELDS.length <= parts.length; at += FIELDS.length) {
      const [sha = '', author = '', subject = '', time = ''] = parts.slice(at, at + FIELDS.length);
      const moment = new Date(time);
      commits.push({
        sha,
        author: author.slice(0, NAME_CHARACTERS),
        subject: subject.slice(0, SUBJECT_CHARACTERS),
        at: Number.isNaN(moment.getTime()) ? new Date(0) : moment,
      });
    }
    return commits;
  } catch (error) {
    workspace.signal.throwIfAborted();
    if (error instanceof RepositoryError) return [];
    throw error;
  }
}
