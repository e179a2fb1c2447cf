/** Rebases the commits of a branch onto another commit, without a checkout. */
import { conflict, preconditionFailed } from '../../controller/platform/operation/errors.ts';
import type { CommitIdentity } from '../write-back/commit/commit.ts';
import { type PullRequestSummary, rebaseMessage } from './commit-messages.ts';
import { type ExistingCommit, readCommits, writeCommit } from './commit-objects.ts';
import type { LocalGit } from './local-git.ts';
import type { MergeEnds } from './merge-result.ts';
import { mergeTrees, resolveTrees } from './merge-result.ts';

const MAX_COMMITS = 250;

/**
 * Like `git rebase`, it skips commits whose change the base already has, and commits that become empty.
 * @returns the last commit; null where no commit is left
 * @throws PRECONDITION_FAILED, CONFLICT with an alternative
 */
export async function rebaseCommits(
  git: LocalGit,
  { base, head }: MergeEnds,
  pull: PullRequestSummary,
  committer: CommitIdentity,
): Promise<string | null> {
  const countArgs = ['rev-list', '--count', `${base}..${head}`];
  const { stdout: merges } = await git([...countArgs, '--merges']);
  if (Number(merges) > 0)
    throw preconditionFailed(
      'The branch holds a merge commit, which cannot be rebased; merge it by "merge" or "squash"',
    );
  const { stdout: count } = await git(countArgs);
  if (Number(count) > MAX_COMMITS)
    throw preconditionFailed(
      `The branch has ${Number(count)} commits, more than the ${MAX_COMMITS} that can be rebased; merge it by "merge" or "squash"`,
    );
  const commits = await readCommits(git, ['--right-only', '--cherry-pick', `${base}...${head}`]);
  const parents = commits.flatMap(({ parents: all }) => all.slice(0, 1));
  const before = parents.length === 0 ? [] : await resolveTrees(git, parents);
  let onto = base;
  let [tree = ''] = await resolveTrees(git, [base]);
  for (const [at, commit] of commits.entries()) {
    const next = await cherryPick(git, commit, before[at] ?? '', tree);
    // A commit that was empty from the start stays; a commit that becomes empty is skipped.
    if (next === tree && commit.tree !== before[at]) continue;
    const { author, authorDate, message } = commit;
    onto = await writeCommit(git, {
      ...{ tree: next, parents: [onto], author, authorDate, committer },
      message: rebaseMessage(message, pull),
    });
    tree = next;
  }
  return onto === base ? null : onto;
}

/** Applies the change of a commit to the tree `onto`. */
async function cherryPick(
  git: LocalGit,
  commit: ExistingCommit,
  before: string,
  onto: string,
): Promise<string> {
  if (before === onto) return commit.tree;
  if (before === commit.tree) return onto;
  // Git before 2.40 has no --merge-base: stand-in commits give the three trees a common history.
  const first = await writeStandIn(git, before, []);
  const [ours, theirs] = [
    await writeStandIn(git, onto, [first]),
    await writeStandIn(git, commit.tree, [first]),
  ];
  const { tree, conflicts } = await mergeTrees(git, ours, theirs);
  if (conflicts.length === 0) return tree;
  const subject = commit.message.trimStart().split('\n')[0]?.slice(0, 100) ?? '';
  throw conflict(
    `The commit ${commit.sha.slice(0, 7)} "${subject}" conflicts in ${conflicts.slice(0, 5).join(', ')}; merge by "merge" or "squash", or rebase the branch yourself and push it`,
  );
}

const STAND_IN_IDENTITY = { name: 'Headgate', email: 'headgate@localhost' };

const writeStandIn = (git: LocalGit, tree: string, parents: readonly string[]): Promise<string> =>
  writeCommit(git, {
    ...{ tree, parents, message: 'stand-in', author: STAND_IN_IDENTITY, committer: STAND_IN_IDENTITY },
    ...{ authorDate: '0 +0000', committerDate: '0 +0000' },
  });
