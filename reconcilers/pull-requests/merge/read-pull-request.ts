/** What pull requests change, and how they stand. */

import type { MergeState, PullRequestRecord } from '../../../controller/delivery/pull-requests/index.ts';
import { RepositoryError } from '../../../controller/delivery/repository/index.ts';
import { preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import type { PullRequest, PullRequestDiff } from '../../../schemas/api/pull-requests.ts';
import { type Ends, mergeBaseOf, observeMerge } from '../../merge/merge-result.ts';
import { holds, tipOf, type Workspace } from '../../merge/workspace.ts';
import { diffOf } from './diff.ts';
import { bothEnds } from './merge-pull-request.ts';

/** Null where the branch is gone. */
export async function readPullRequest(
  bench: Workspace,
  { branch, base: baseBranch }: Pick<PullRequestRecord, 'branch' | 'base'>,
): Promise<MergeState | null> {
  const { base, head } = await bothEnds(bench, { branch, base: baseBranch });
  if (head === null) return null;
  const { mergeBase, conflicts, tree, isIn, changesNothing } = await observeMerge(bench.git, { base, head });
  const mergeable = tree === null ? 'conflict' : 'clean';
  return { headSha: head, baseSha: base, mergeBase, mergeable, conflicts, isIn, changesNothing };
}

type Pull = Pick<PullRequestRecord, 'state' | 'forge' | 'isFork' | 'branch' | 'base' | 'headSha' | 'baseSha'>;

/** Of one that is over they are as they were when somebody looked last. */
async function endsHere({ git }: Workspace, pull: Pull): Promise<Ends | null> {
  const base = pull.state === 'open' ? await tipOf(git, pull.base) : pull.baseSha;
  return base === null ? null : { base, head: pull.headSha };
}

/** @throws PRECONDITION_FAILED */
export async function pullDiff(bench: Workspace, pull: Pull): Promise<PullRequestDiff> {
  const { git, handle, signal } = bench;
  const known = async () => {
    const ends = await endsHere(bench, pull);
    if (ends === null || !(await holds(git, [ends.base, ends.head]))) return null;
    const mergeBase = await mergeBaseOf(git, ends.base, ends.head);
    return mergeBase !== null && (await holds(git, [mergeBase])) ? { head: ends.head, mergeBase } : null;
  };
  const here = async () =>
    known().catch((error: unknown) => {
      // Before the first fetch there is no copy.
      if (error instanceof RepositoryError && error.fault === 'copy') return null;
      throw error;
    });
  let ends = await here();
  if (ends === null && pull.state === 'open') {
    await (pull.isFork
      ? handle.fetch(signal, pull.headSha)
      : handle.meet({ base: pull.base, head: pull.branch }, signal));
    ends = await here();
  }
  if (ends === null)
    throw preconditionFailed(
      'Its commits are not in the repository any more, or have no history in common with its base; push the branch again',
    );
  const { files, filesTotal } = await diffOf(git, ends.mergeBase, ends.head);
  return { headSha: ends.head, mergeBase: ends.mergeBase, files, filesTotal };
}

/** A copy that has just followed its base may not know yet where the two part: then as it was when somebody looked last. */
async function metHere(bench: Workspace, pull: Pull): Promise<Ends | null> {
  const ends = await endsHere(bench, pull);
  if (ends === null || (await mergeBaseOf(bench.git, ends.base, ends.head)) !== null) return ends;
  const { baseSha: base, headSha: head } = pull;
  if (base === null || (await mergeBaseOf(bench.git, base, head)) === null) return null;
  return { base, head };
}

const MOST_COMMITS = 100;
const FIELDS = ['%H', '%an', '%s', '%cI'];
const NAME = 200;
const SUBJECT = 500;

/** Of what is here; nothing is fetched for a page. */
export async function pullCommits(bench: Workspace, pull: Pull): Promise<PullRequest['commits']> {
  try {
    const ends = await metHere(bench, pull);
    if (ends === null) return [];
    const { stdout } = await bench.git([
      ...['log', '-z', `--max-count=${MOST_COMMITS}`, `--format=${FIELDS.join('%x00')}`],
      `${ends.base}..${ends.head}`,
    ]);
    const parts = stdout.split('\0');
    const commits: PullRequest['commits'] = [];
    for (let at = 0; at + FIELDS.length <= parts.length; at += FIELDS.length) {
      const [sha = '', author = '', subject = '', time = ''] = parts.slice(at, at + FIELDS.length);
      const moment = new Date(time);
      commits.push({
        sha,
        author: author.slice(0, NAME),
        subject: subject.slice(0, SUBJECT),
        at: Number.isNaN(moment.getTime()) ? new Date(0) : moment,
      });
    }
    return commits;
  } catch (error) {
    bench.signal.throwIfAborted();
    if (error instanceof RepositoryError) return [];
    throw error;
  }
}
