/** Merges the base into a branch by a merge commit on top of it, so that all commits of the branch stay. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conflictRefusal, type PullRequestRecord } from '../../../controller/delivery/pull-requests/index.ts';
import { conflict, preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import { refreshMessage } from '../../merge/commit-messages.ts';
import { writeCommit } from '../../merge/commit-objects.ts';
import type { LocalGit } from '../../merge/local-git.ts';
import { findMergeBase, mergeTrees } from '../../merge/merge-result.ts';
import type { Workspace } from '../../merge/workspace.ts';
import { readEnds } from './merge-pull-request.ts';

/** The three texts of a file that both sides changed; null where a side has no such file. */
export interface ConflictTexts {
  base: string | null;
  ours: string | null;
  theirs: string | null;
}

/** Merges a file by its meaning instead of by lines; `ours` is the branch. Null where it cannot. */
export type Resolve = (path: string, sides: ConflictTexts) => string | null;

const ATTEMPTS = 10;

/** @throws CONFLICT, which names the files; PRECONDITION_FAILED, RepositoryError */
export async function refreshBranch(
  workspace: Workspace,
  pull: PullRequestRecord,
  resolve: Resolve | null,
): Promise<{ headSha: string; baseSha: string }> {
  const { git, handle, signal, author, committer } = workspace;
  for (let count = 1; count <= ATTEMPTS; count += 1) {
    const { base, head } = await readEnds(workspace, pull);
    if (head === null)
      throw conflict(`The branch "${pull.branch}" is deleted; push it again, or close the pull request`);
    const mergeBase = await findMergeBase(git, base, head);
    if (mergeBase === base) return { headSha: head, baseSha: base };
    if (mergeBase === null)
      throw preconditionFailed(
        `"${pull.branch}" and "${pull.base}" have no history in common; start the branch from "${pull.base}"`,
      );
    const { tree, conflicts } = await mergeTrees(git, head, base);
    const merged =
      conflicts.length === 0
        ? tree
        : await resolveConflicts(git, tree, { ours: head, theirs: base }, resolve);
    if (merged === null) throw conflictRefusal({ base: pull.base, conflicts });
    const message = refreshMessage(pull);
    const sha = await writeCommit(git, { tree: merged, parents: [head, base], message, author, committer });
    const ref = `refs/heads/${pull.branch}`;
    if ((await handle.push({ ref, sha, expect: head }, signal)) === 'ok')
      return { headSha: sha, baseSha: base };
  }
  throw conflict(`Others pushed to "${pull.branch}" during each attempt to update it; try again`);
}

const MAX_BYTES = 2 * 1024 * 1024;

/** The tree with all conflicts resolved; null where one remains. */
async function resolveConflicts(
  git: LocalGit,
  tree: string,
  { ours, theirs }: { ours: string; theirs: string },
  resolve: Resolve | null,
): Promise<string | null> {
  if (!resolve) return null;
  const args = ['merge-tree', '--write-tree', '-z', '--no-messages', ours, theirs];
  const { stdout } = await git(args, { acceptedCodes: [1] });
  const stages = new Map<string, Map<number, { mode: string; oid: string }>>();
  for (const line of stdout.split('\0').slice(1)) {
    const found = /^(\d{6}) ([0-9a-f]+) ([123])\t(.+)$/s.exec(line);
    if (!found) continue;
    const [, mode = '', oid = '', stage = '', path = ''] = found;
    const entries = stages.get(path) ?? new Map<number, { mode: string; oid: string }>();
    stages.set(path, entries.set(Number(stage), { mode, oid }));
  }
  const files: { path: string; mode: string; text: string }[] = [];
  for (const [path, entries] of stages) {
    if ([...entries.values()].some(({ mode }) => !mode.startsWith('100'))) return null;
    const sides = {
      base: await readText(git, entries.get(1)?.oid),
      ours: await readText(git, entries.get(2)?.oid),
      theirs: await readText(git, entries.get(3)?.oid),
    };
    const text = resolve(path, sides);
    if (text === null) return null;
    files.push({ path, mode: entries.get(2)?.mode ?? entries.get(3)?.mode ?? '100644', text });
  }
  return writeTreeWithFiles(git, tree, files);
}

async function readText(git: LocalGit, oid: string | undefined): Promise<string | null> {
  if (oid === undefined) return null;
  const { stdout: size } = await git(['cat-file', '-s', oid]);
  return Number(size) > MAX_BYTES ? null : (await git(['cat-file', 'blob', oid])).stdout;
}

async function writeTreeWithFiles(
  git: LocalGit,
  tree: string,
  files: readonly { path: string; mode: string; text: string }[],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-merge-'));
  try {
    const env = { GIT_INDEX_FILE: join(folder, 'index') };
    await git(['read-tree', tree], { env });
    const lines: string[] = [];
    for (const { path, mode, text } of files) {
      const { stdout } = await git(['hash-object', '-w', '--stdin'], { input: text });
      lines.push(`${mode} ${stdout.trim()}\t${path}\0`);
    }
    await git(['update-index', '-z', '--index-info'], { env, input: lines.join('') });
    return (await git(['write-tree', '--missing-ok'], { env })).stdout.trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
