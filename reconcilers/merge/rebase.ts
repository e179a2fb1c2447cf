/** Commits of a branch, made again on top of another commit: by trees alone, nothing is checked out. */
import { conflict, preconditionFailed } from '../../controller/platform/operation/errors.ts';
import type { CommitIdentity } from '../write-back/commit/commit.ts';
import { type Named, rebasedMessage } from './commit-messages.ts';
import { type OldCommit, readCommits, writeCommit } from './commit-objects.ts';
import type { LocalGit } from './local-git.ts';
import type { Ends } from './merge-result.ts';
import { mergeTrees, treesOf } from './merge-result.ts';

const MOST_COMMITS = 250;

/**
 * The last commit, and its tree; null where nothing was left to do. Like `git rebase`, it leaves out commits whose change the
 * base has already, and those of which nothing is left.
 * @throws PRECONDITION_FAILED, CONFLICT that say what to do instead
 */
export async function rebased(
  git: LocalGit,
  { base, head }: Ends,
  pull: Named,
  committer: CommitIdentity,
): Promise<string | null> {
  const own = ['rev-list', '--count', `${base}..${head}`];
  const { stdout: merges } = await git([...own, '--merges']);
  if (Number(merges) > 0)
    throw preconditionFailed(
      'The branch holds a merge commit, which cannot be rebased; merge it by "merge" or "squash"',
    );
  const { stdout: count } = await git(own);
  if (Number(count) > MOST_COMMITS)
    throw preconditionFailed(
      `The branch has ${Number(count)} commits, and ${MOST_COMMITS} at most are rebased; merge it by "merge" or "squash"`,
    );
  const commits = await readCommits(git, ['--right-only', '--cherry-pick', `${base}...${head}`]);
  const parents = commits.flatMap(({ parents: all }) => all.slice(0, 1));
  const before = parents.length === 0 ? [] : await treesOf(git, parents);
  let onto = base;
  let [tree = ''] = await treesOf(git, [base]);
  for (const [at, commit] of commits.entries()) {
    const next = await picked(git, commit, before[at] ?? '', tree);
    // What the commit itself left as it was stays a commit; what has become nothing does not.
    if (next === tree && commit.tree !== before[at]) continue;
    const { author, authorDate, message } = commit;
    onto = await writeCommit(git, {
      ...{ tree: next, parents: [onto], author, authorDate, committer },
      message: rebasedMessage(message, pull),
    });
    tree = next;
  }
  return onto === base ? null : onto;
}

/** The tree that `onto` becomes by what the commit changes. */
async function picked(git: LocalGit, commit: OldCommit, before: string, onto: string): Promise<string> {
  if (before === onto) return commit.tree;
  if (before === commit.tree) return onto;
  // Git before 2.40 merges by history alone: so these three have one, the same each time.
  const first = await standIn(git, before, []);
  const [ours, theirs] = [await standIn(git, onto, [first]), await standIn(git, commit.tree, [first])];
  const { tree, conflicts } = await mergeTrees(git, ours, theirs);
  if (conflicts.length === 0) return tree;
  const subject = commit.message.trimStart().split('\n')[0]?.slice(0, 100) ?? '';
  throw conflict(
    `The commit ${commit.sha.slice(0, 7)} "${subject}" conflicts in ${conflicts.slice(0, 5).join(', ')}; merge by "merge" or "squash", or rebase the branch yourself and push it`,
  );
}

const NOBODY = { name: 'Headgate', email: 'headgate@localhost' };

const standIn = (git: LocalGit, tree: string, parents: readonly string[]): Promise<string> =>
  writeCommit(git, {
    ...{ tree, parents, message: 'stand-in', author: NOBODY, committer: NOBODY },
    ...{ authorDate: '0 +0000', committerDate: '0 +0000' },
  });
