/** Computes the merge of two commits in the object database, without a branch, an index or a work tree. */
import { containsByPath } from './contains-by-path.ts';
import { type LocalGit, localGit } from './local-git.ts';

export interface MergeResult {
  /** Null: the histories are unrelated. */
  mergeBase: string | null;
  /** Paths with conflicting changes. */
  conflicts: string[];
  /**
   * A merge commit on no branch, with the parents base and head. The same ends have the same commit. Null where there are
   * conflicts or the histories are unrelated.
   */
  commit: string | null;
  /** The base contains every change of the head: merged, squashed, rebased or cherry-picked. */
  isIn: boolean;
}

export interface MergeEnds {
  base: string;
  head: string;
}

const MAX_CONFLICTS = 200;
const MAX_PATH_CHARACTERS = 1_024;

/** @throws RepositoryError where git is too old, or a partial clone lacks an object */
export async function mergeResult(
  gitdir: string,
  ends: MergeEnds,
  signal: AbortSignal,
): Promise<MergeResult> {
  const git = localGit(gitdir, signal);
  const { mergeBase, conflicts, isIn, tree } = await observeMerge(git, ends);
  if (mergeBase === ends.head) return { mergeBase, conflicts, commit: ends.base, isIn };
  return {
    mergeBase,
    conflicts,
    commit: tree === null ? null : await writeDetachedMerge(git, tree, ends),
    isIn,
  };
}

/** A merge result without the commit, which costs a write. */
export interface ObservedMerge extends Omit<MergeResult, 'commit'> {
  /** The merged tree; null where there are conflicts or the histories are unrelated. */
  tree: string | null;
  /** The head has the tree of the merge base. */
  changesNothing: boolean;
}

export async function observeMerge(git: LocalGit, { base, head }: MergeEnds): Promise<ObservedMerge> {
  const mergeBase = await findMergeBase(git, base, head);
  if (mergeBase === head) {
    const [tree = null] = await resolveTrees(git, [base]);
    return { mergeBase, conflicts: [], isIn: true, tree, changesNothing: false };
  }
  const { tree, conflicts } = await mergeTrees(git, base, head);
  if (mergeBase === null) return { mergeBase, conflicts, isIn: false, tree: null, changesNothing: false };
  const [baseTree, headTree, firstTree] = await resolveTrees(git, [base, head, mergeBase]);
  // An empty change is not contained in anything.
  const changesNothing = headTree === firstTree;
  const isIn =
    !changesNothing &&
    ((conflicts.length === 0 && tree === baseTree) ||
      (await containsByPath(git, { mergeBase: mergeBase, base, head })));
  if (isIn) return { mergeBase, conflicts: [], isIn, tree: baseTree ?? null, changesNothing };
  return { mergeBase, conflicts, isIn, tree: conflicts.length > 0 ? null : tree, changesNothing };
}

export async function findMergeBase(git: LocalGit, base: string, head: string): Promise<string | null> {
  const { code, stdout } = await git(['merge-base', base, head], { acceptedCodes: [1] });
  return code === 0 ? stdout.trim() : null;
}

export interface Trees {
  tree: string;
  conflicts: string[];
}

/** The tree of a merge with the defaults of `git merge`. With conflicts it holds conflict markers. */
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
  const { code, stdout } = await git(args, { acceptedCodes: [1] }).catch((error: unknown) => {
    git.signal.throwIfAborted();
    // Rename detection reads files that a partial clone may lack. Git 2.39 ignores the setting.
    if (/merge-tree failed/.test(String(error)))
      return git(['-c', 'merge.renames=false', ...args], { acceptedCodes: [1] });
    throw error;
  });
  const [tree = '', ...paths] = stdout.split('\0');
  const named = [...new Set(paths.filter((path) => path !== ''))];
  return {
    tree,
    conflicts:
      code === 0 ? [] : named.slice(0, MAX_CONFLICTS).map((path) => path.slice(0, MAX_PATH_CHARACTERS)),
  };
}

export async function resolveTrees(git: LocalGit, commits: readonly string[]): Promise<string[]> {
  const { stdout } = await git(['rev-parse', ...commits.map((sha) => `${sha}^{tree}`)]);
  return stdout.trim().split('\n');
}

const FIXED_IDENTITY = {
  GIT_AUTHOR_NAME: 'Headgate',
  GIT_AUTHOR_EMAIL: 'headgate@localhost',
  GIT_AUTHOR_DATE: '@0 +0000',
  GIT_COMMITTER_NAME: 'Headgate',
  GIT_COMMITTER_EMAIL: 'headgate@localhost',
  GIT_COMMITTER_DATE: '@0 +0000',
};

/** Deterministic, so that a repeated call adds no object. */
async function writeDetachedMerge(git: LocalGit, tree: string, { base, head }: MergeEnds): Promise<string> {
  const message = `Merge ${head} into ${base}`;
  const { stdout } = await git(['commit-tree', tree, '-p', base, '-p', head, '-m', message], {
    env: FIXED_IDENTITY,
  });
  return stdout.trim();
}
