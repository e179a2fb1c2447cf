/** The folder of a mirror: creating, fetching, packing. The caller runs one of these at a time for one mirror. */
import fs, { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import git from 'isomorphic-git';
import { gitEnvironment } from '../embedded.ts';
import { type GitEnd, runGit } from '../process/git-run.ts';
import { RepositoryError } from '../repository-error.ts';
import { explainRun, isDamaged } from './explain-run.ts';
import type { Remote } from './remote.ts';
import { runRemote } from './remote-run.ts';

export interface MirrorRun {
  gitdir: string;
  runs: string;
  signal: AbortSignal;
  deadlineMs: number;
}

/** Larger blobs stay on the server; no manifest is that large. */
const BLOBS = '--filter=blob:limit=2m';
/** For commits that only connect others. */
const COMMITS_ALONE = '--filter=tree:0';
/** How many commits are searched for a path, along the first parents and side lines. */
const DEPTHS = [50, 1_000, 10_000];
/** Each fetch adds a pack. */
const MANY_PACKS = 40;

/** Written when the mirror is created; holds no credential. */
const configOf = (url: string) => `[core]
\trepositoryformatversion = 1
\tfilemode = true
\tbare = true
\thooksPath = /dev/null
\tfsmonitor = false
[extensions]
\tpartialClone = origin
[remote "origin"]
\turl = ${url}
\tpromisor = true
\tpartialclonefilter = blob:limit=2m
[gc]
\tauto = 0
`;

export async function ensureMirror(remote: Remote, run: MirrorRun): Promise<void> {
  if (existsSync(join(run.gitdir, 'HEAD')) && existsSync(join(run.gitdir, 'config'))) return;
  await mkdir(dirname(run.gitdir), { recursive: true, mode: 0o700 });
  const fresh = await mkdtemp(`${run.gitdir}.new-`);
  try {
    const args = ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', '--', fresh];
    const env = gitEnvironment(fresh);
    const end = await runGit(args, { ...run, cwd: fresh, env });
    if (end.code !== 0) throw copyError(end);
    await writeFile(join(fresh, 'config'), configOf(configText(remote.address.url)));
    await rm(run.gitdir, { recursive: true, force: true });
    await rename(fresh, run.gitdir);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** Quoted: outside of quotes `#` and `;` begin a comment in git's configuration. */
const configText = (url: string): string => `"${url.replaceAll(/["\\]/g, '\\$&')}"`;

function copyError(end: GitEnd): RepositoryError {
  const disk = /No space left|quota/i.test(end.stderr);
  return disk
    ? new RepositoryError(
        'disk',
        'the disk of the data directory is full; free some space there; it is tried again by itself',
      )
    : new RepositoryError(
        'copy',
        `the copy in the data directory cannot be written: ${end.stderr.trim().slice(0, 300)}`,
      );
}

/** The commit of the ref; null when the mirror has none. */
export async function mirrorRef(gitdir: string, ref: string): Promise<string | null> {
  try {
    return await git.resolveRef({ fs, gitdir, ref, depth: 5 });
  } catch (error) {
    if (error instanceof git.Errors.NotFoundError) return null;
    throw error;
  }
}

/** Fetches one ref of the server, one commit deep. */
export async function fetchRef(
  remote: Remote,
  run: MirrorRun,
  from: string,
  to: string = from,
): Promise<void> {
  await fetch(remote, run, [BLOBS, '--depth=1'], `+${from}:${to}`);
}

/**
 * Looks for a path of commits from `head` down to each anchor, and fetches missing commits in between: a few, then more, and at
 * last so many that no path means a rewritten history.
 */
export async function fetchPaths(
  remote: Remote,
  run: MirrorRun,
  ref: string,
  head: string,
  anchors: readonly string[],
): Promise<void> {
  let open = await listUnreached(run, head, anchors);
  for (const depth of DEPTHS) {
    if (open.length === 0) return;
    await fetch(remote, run, [COMMITS_ALONE, `--depth=${depth}`], `+${ref}:${ref}`);
    open = await listUnreached(run, head, open);
  }
}

async function listUnreached(run: MirrorRun, head: string, anchors: readonly string[]): Promise<string[]> {
  const others = [...new Set(anchors)].filter((anchor) => anchor !== head);
  if (others.length === 0) return [];
  const commit = await local(run, ['cat-file', 'commit', head]);
  // From the raw commit: the history of a shallow mirror would show no parents.
  const parents = [...(commit.stdout.split('\n\n')[0]?.matchAll(/^parent (\S+)$/gm) ?? [])].map(
    ([, sha]) => sha,
  );
  const open: string[] = [];
  for (const anchor of others) {
    if (parents.includes(anchor)) continue;
    const { code } = await local(run, ['merge-base', '--is-ancestor', anchor, head]);
    if (code !== 0) open.push(anchor);
  }
  return open;
}

export async function holdsCommit(run: MirrorRun, sha: string): Promise<boolean> {
  return (await local(run, ['cat-file', '-e', `${sha}^{tree}`])).code === 0;
}

/** Commits between two branches and their merge base; a merge of branches further apart is refused. */
const MAX_BETWEEN = 2_000;

/**
 * Fetches what a merge of two local refs reads: the commits down to their merge bases, and the files of these and of all commits
 * of `head` in between. Fetches only what is missing, so that no known history becomes shorter.
 */
export async function fetchMeeting(
  remote: Remote,
  run: MirrorRun,
  { base, head }: { base: string; head: string },
  isHeadThere: boolean,
): Promise<void> {
  const both = [`+${base}:${base}`, ...(isHeadThere ? [`+${head}:${head}`] : [])];
  let bases = await mergeBases(run, base, head);
  for (const more of DEPTHS) {
    if (bases.length > 0) break;
    if (!existsSync(join(run.gitdir, 'shallow'))) return;
    await fetch(remote, run, [COMMITS_ALONE, `--deepen=${more}`], ...both);
    bases = await mergeBases(run, base, head);
  }
  if (bases.length === 0) return;
  const between = await local(run, ['rev-list', `--max-count=${MAX_BETWEEN}`, head, base, '--not', ...bases]);
  if (between.code !== 0) throw copyError(between);
  const commits = [...new Set([...between.stdout.split('\n').filter((line) => line !== ''), ...bases])];
  await fetchTrees(remote, run, commits);
}

async function mergeBases(run: MirrorRun, base: string, head: string): Promise<string[]> {
  const end = await local(run, ['merge-base', '--all', base, head]);
  return end.code === 0 ? end.stdout.trim().split('\n') : [];
}

/** Fetches the trees and files of commits that were fetched alone; by id, as git itself does for a partial clone. */
async function fetchTrees(remote: Remote, run: MirrorRun, commits: readonly string[]): Promise<void> {
  const listed = await local(
    run,
    ['rev-list', '--objects', '--missing=print', '--no-walk', '--filter=tree:1', '--stdin'],
    commits.map((sha) => `${sha}\n`).join(''),
  );
  if (listed.code !== 0) throw copyError(listed);
  const missing = [...listed.stdout.matchAll(/^\?([0-9a-f]{40,64})$/gm)].map(([, tree]) => `${tree}\n`);
  if (missing.length === 0) return;
  const args = [
    ...['-c', 'fetch.negotiationAlgorithm=noop', 'fetch', '--quiet', '--no-tags', '--no-write-fetch-head'],
    ...['--no-recurse-submodules', '--no-auto-maintenance', BLOBS, '--stdin', 'origin'],
  ];
  const end = await runRemote(remote, args, { ...run, input: missing.join('') });
  if (end.code !== 0) throw explainRun(remote, end, run.deadlineMs);
}

/** Deletes a ref that the server no longer has. */
export async function dropRef(run: MirrorRun, ref: string): Promise<void> {
  const end = await local(run, ['update-ref', '-d', ref]);
  if (end.code !== 0) throw copyError(end);
}

/** Combines many packs into one. Objects that were written here and are in no ref stay for a day. */
export async function repack(run: MirrorRun): Promise<void> {
  const packs = await readdir(join(run.gitdir, 'objects/pack')).catch(() => []);
  if (packs.filter((name) => name.endsWith('.pack')).length < MANY_PACKS) return;
  await local(run, ['gc', '--quiet', '--prune=1.day.ago']);
}

/** Deletes the temporary files of a killed run. */
export async function removeLeftovers(gitdir: string): Promise<void> {
  const folder = join(gitdir, 'objects/pack');
  for (const name of await readdir(folder).catch(() => []))
    if (name.startsWith('tmp_')) await rm(join(folder, name), { force: true });
}

async function fetch(
  remote: Remote,
  run: MirrorRun,
  how: readonly string[],
  ...refspecs: string[]
): Promise<void> {
  const args = [
    'fetch',
    '--quiet',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    '--no-auto-maintenance',
    '--update-shallow',
    ...how,
    '--',
    'origin',
    ...refspecs,
  ];
  const end = await runRemote(remote, args, run);
  if (end.code === 0) return;
  const error = explainRun(remote, end, run.deadlineMs);
  if (error.fault === 'server' && isDamaged(end))
    throw new RepositoryError('copy', `the copy of the repository is damaged: ${error.message}`);
  throw error;
}

function local(run: MirrorRun, args: readonly string[], input = ''): Promise<GitEnd> {
  const env = {
    ...gitEnvironment(run.gitdir),
    GIT_DIR: run.gitdir,
    GIT_NO_LAZY_FETCH: '1',
    // Git before 2.45 does not know the other setting.
    GIT_ALLOW_PROTOCOL: 'none',
  };
  return runGit(args, { cwd: run.gitdir, env, signal: run.signal, deadlineMs: run.deadlineMs, input });
}
