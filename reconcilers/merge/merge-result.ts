/**
 * What merging one commit into another gives, by content: no branch, index or work tree is touched. Whether it came in by a
 * merge, a squash, a rebase or a cherry-pick makes no difference to whoever asks `isIn`.
 */

import { isInByPath } from './contains-by-path.ts';
import { type LocalGit, localGit } from './local-git.ts';

export interface MergeResult {
  /** Null: they have no history in common. */
  mergeBase: string | null;
  /** Paths that both changed in ways that do not go together. */
  conflicts: string[];
  /**
   * A commit of the merge, on no branch (parents base, head), the same for the same two; null where there are conflicts or no
   * history in common.
   */
  commit: string | null;
  /** Everything that the head changes is in the base already: merged, squashed, rebased or cherry-picked. */
  isIn: boolean;
}

export interface Ends {
  base: string;
  head: string;
}

/** Told at most. */
const MOST_CONFLICTS = 200;
const PATH_CHARACTERS = 1_024;

/** @throws RepositoryError where git is too old, or lacks what it needs of a partial copy */
export async function mergeResult(gitdir: string, ends: Ends, signal: AbortSignal): Promise<MergeResult> {
  const git = localGit(gitdir, signal);
  const { mergeBase, conflicts, isIn, tree } = await observeMerge(git, ends);
  if (mergeBase === ends.head) return { mergeBase, conflicts, commit: ends.base, isIn };
  return { mergeBase, conflicts, commit: tree === null ? null : await danglingMerge(git, tree, ends), isIn };
}

/** Without the commit. */
export interface ObservedMerge extends Omit<MergeResult, 'commit'> {
  /** Of the merge; null where there are conflicts or no history in common. */
  tree: string | null;
  /** The files of the head are those of where it began. */
  changesNothing: boolean;
}

export async function observeMerge(git: LocalGit, { base, head }: Ends): Promise<ObservedMerge> {
  const mergeBase = await mergeBaseOf(git, base, head);
  if (mergeBase === head) {
    const [tree = null] = await treesOf(git, [base]);
    return { mergeBase, conflicts: [], isIn: true, tree, changesNothing: false };
  }
  const { tree, conflicts } = await mergeTrees(git, base, head);
  if (mergeBase === null) return { mergeBase, conflicts, isIn: false, tree: null, changesNothing: false };
  const [baseTree, headTree, firstTree] = await treesOf(git, [base, head, mergeBase]);
  // What changes nothing at all cannot have come in.
  const changesNothing = headTree === firstTree;
  const isIn =
    !changesNothing &&
    ((conflicts.length === 0 && tree === baseTree) ||
      (await isInByPath(git, { first: mergeBase, base, head })));
  if (isIn) return { mergeBase, conflicts: [], isIn, tree: baseTree ?? null, changesNothing };
  return { mergeBase, conflicts, isIn, tree: conflicts.length > 0 ? null : tree, changesNothing };
}

export async function mergeBaseOf(git: LocalGit, base: string, head: string): Promise<string | null> {
  const { code, stdout } = await git(['merge-base', base, head], { codes: [1] });
  return code === 0 ? stdout.trim() : null;
}

export interface Trees {
  tree: string;
  conflicts: string[];
}

/** The tree of a merge of two commits, as `git merge` makes it by default; with conflicts it holds their marks. */
export async function mergeTrees(git: LocalGit, ours: string, theirs: string): Promise<Trees> {
  const args = [
    'merge-tree',
    '--write-tree',
    '-z',
    '--name-only',
    '--no-messages',
    '--allow-unrelated-histories',
    ours,
    theirs,
  ];
  const { code, stdout } = await git(args, { codes: [1] }).catch((error: unknown) => {
    git.signal.throwIfAborted();
    // Looking for renames reads files that a partial copy may not hold. Not every git lets it be (2.39 does not).
    if (/merge-tree failed/.test(String(error)))
      return git(['-c', 'merge.renames=false', ...args], { codes: [1] });
    throw error;
  });
  const [tree = '', ...paths] = stdout.split('\0');
  const named = [...new Set(paths.filter((path) => path !== ''))];
  return {
    tree,
    conflicts: code === 0 ? [] : named.slice(0, MOST_CONFLICTS).map((path) => path.slice(0, PATH_CHARACTERS)),
  };
}

export async function treesOf(git: LocalGit, commits: readonly string[]): Promise<string[]> {
  const { stdout } = await git(['rev-parse', ...commits.map((sha) => `${sha}^{tree}`)]);
  return stdout.trim().split('\n');
}

const NOBODY = {
  GIT_AUTHOR_NAME: 'Headgate',
  GIT_AUTHOR_EMAIL: 'headgate@localhost',
  GIT_AUTHOR_DATE: '@0 +0000',
  GIT_COMMITTER_NAME: 'Headgate',
  GIT_COMMITTER_EMAIL: 'headgate@localhost',
  GIT_COMMITTER_DATE: '@0 +0000',
};

/** Always the same for the same two, so that looking again leaves nothing behind. */
async function danglingMerge(git: LocalGit, tree: string, { base, head }: Ends): Promise<string> {
  const message = `Merge ${head} into ${base}`;
  const { stdout } = await git(['commit-tree', tree, '-p', base, '-p', head, '-m', message], { env: NOBODY });
  return stdout.trim();
}
