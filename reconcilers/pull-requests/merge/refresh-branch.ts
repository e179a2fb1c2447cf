/** The base brought into a branch, by a merge commit on top of it: what others pushed to the branch stays below. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conflictRefusal, type PullRequestRecord } from '../../../controller/delivery/pull-requests/index.ts';
import { conflict, preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import { refreshMessage } from '../../merge/commit-messages.ts';
import { writeCommit } from '../../merge/commit-objects.ts';
import type { LocalGit } from '../../merge/local-git.ts';
import { mergeBaseOf, mergeTrees } from '../../merge/merge-result.ts';
import type { Workspace } from '../../merge/workspace.ts';
import { bothEnds } from './merge-pull-request.ts';

/** The three texts of a file that both changed; null where one of them has none. */
export interface Sides {
  base: string | null;
  ours: string | null;
  theirs: string | null;
}

/** Knows better than lines do how a file goes together; `ours` is the branch. Null: it does not. */
export type Resolve = (path: string, sides: Sides) => string | null;

const ATTEMPTS = 10;

/** @throws CONFLICT, which names the files; PRECONDITION_FAILED, RepositoryError */
export async function refreshPull(
  bench: Workspace,
  pull: PullRequestRecord,
  resolve: Resolve | null,
): Promise<{ headSha: string; baseSha: string }> {
  const { git, handle, signal, author, committer } = bench;
  for (let count = 1; count <= ATTEMPTS; count += 1) {
    const { base, head } = await bothEnds(bench, pull);
    if (head === null)
      throw conflict(`The branch "${pull.branch}" is gone; push it again, or close the pull request`);
    const mergeBase = await mergeBaseOf(git, base, head);
    if (mergeBase === base) return { headSha: head, baseSha: base };
    if (mergeBase === null)
      throw preconditionFailed(
        `"${pull.branch}" and "${pull.base}" have no history in common; begin the branch at "${pull.base}"`,
      );
    const { tree, conflicts } = await mergeTrees(git, head, base);
    const whole =
      conflicts.length === 0 ? tree : await resolved(git, tree, { ours: head, theirs: base }, resolve);
    if (whole === null) throw conflictRefusal({ base: pull.base, conflicts });
    const message = refreshMessage(pull);
    const sha = await writeCommit(git, { tree: whole, parents: [head, base], message, author, committer });
    const ref = `refs/heads/${pull.branch}`;
    if ((await handle.push({ ref, sha, expect: head }, signal)) === 'ok')
      return { headSha: sha, baseSha: base };
  }
  throw conflict(`Others pushed to "${pull.branch}" each time; try again`);
}

const MOST_BYTES = 2 * 1024 * 1024;

/** The tree with every conflict taken away; null where one is left. */
async function resolved(
  git: LocalGit,
  tree: string,
  { ours, theirs }: { ours: string; theirs: string },
  resolve: Resolve | null,
): Promise<string | null> {
  if (!resolve) return null;
  const args = ['merge-tree', '--write-tree', '-z', '--no-messages', ours, theirs];
  const { stdout } = await git(args, { codes: [1] });
  const stages = new Map<string, Map<number, { mode: string; oid: string }>>();
  for (const line of stdout.split('\0').slice(1)) {
    const found = /^(\d{6}) ([0-9a-f]+) ([123])\t(.+)$/s.exec(line);
    if (!found) continue;
    const [, mode = '', oid = '', stage = '', path = ''] = found;
    const of = stages.get(path) ?? new Map<number, { mode: string; oid: string }>();
    stages.set(path, of.set(Number(stage), { mode, oid }));
  }
  const files: { path: string; mode: string; text: string }[] = [];
  for (const [path, of] of stages) {
    if ([...of.values()].some(({ mode }) => !mode.startsWith('100'))) return null;
    const sides = {
      base: await textOf(git, of.get(1)?.oid),
      ours: await textOf(git, of.get(2)?.oid),
      theirs: await textOf(git, of.get(3)?.oid),
    };
    const text = resolve(path, sides);
    if (text === null) return null;
    files.push({ path, mode: of.get(2)?.mode ?? of.get(3)?.mode ?? '100644', text });
  }
  return withFiles(git, tree, files);
}

async function textOf(git: LocalGit, oid: string | undefined): Promise<string | null> {
  if (oid === undefined) return null;
  const { stdout: size } = await git(['cat-file', '-s', oid]);
  return Number(size) > MOST_BYTES ? null : (await git(['cat-file', 'blob', oid])).stdout;
}

async function withFiles(
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
