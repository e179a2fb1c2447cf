/** A bare repository, read in place: refs, commits, and whether one commit descends from another. */
import fs from 'node:fs';
import { join } from 'node:path';
import git from 'isomorphic-git';
import { BoundedMap } from '../../../controller/platform/runtime/bounded-map.ts';
import type { CommitInfo } from '../types.ts';
import { type ObjectReader, RepositoryObjects } from './objects.ts';
import { GitRepositoryError } from './repository-error.ts';

export interface Repository {
  readonly gitdir: string;
  /** Commits never change, so they are read once. */
  readonly commits: BoundedMap<CommitInfo>;
  readonly objects: RepositoryObjects;
  /** Ends the git child that is kept for the next read, if there is one. Reading again is fine. */
  close(): Promise<void>;
}

const COMMITS_KEPT = 5000;
const COMMIT_BYTES = 1024 * 1024;
const MESSAGE_CHARACTERS = 64 * 1024;
const NAME_CHARACTERS = 200;

/** `idleMs`: how long a git child stays for the next read. Default: 20 s. */
export function openRepository(gitdir: string, options: { idleMs?: number } = {}): Repository {
  const objects = new RepositoryObjects(gitdir, options.idleMs);
  return { gitdir, commits: new BoundedMap(COMMITS_KEPT), objects, close: () => objects.close() };
}

/**
 * Of a branch or tag, with or without refs/heads/ and refs/tags/. Not what git itself refuses in a ref name, and nothing that
 * could be read as an option or a path outside.
 */
export function isRefName(given: string): boolean {
  const ref = given.replace(/^refs\/(heads|tags)\//, '');
  if (ref === '' || ref.length > 250 || ref.startsWith('-') || ref.startsWith('/') || ref.endsWith('/'))
    return false;
  if (/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|^\.|\.$|\.lock(\/|$)|^@$/.test(ref)) return false;
  return true;
}

async function refTarget(repo: Repository, ref: string): Promise<string | null> {
  try {
    return await git.resolveRef({ fs, gitdir: repo.gitdir, ref, depth: 5 });
  } catch (error) {
    // What stands in the file is taken for the name of another ref; NUL bytes are none.
    const nulBytes = error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_ARG_VALUE';
    if (!nulBytes && !(error instanceof git.Errors.NotFoundError)) throw error;
    // A file that is there and names nothing, as a power failure may leave it: that is no deleted branch.
    if (fs.statSync(join(repo.gitdir, ref), { throwIfNoEntry: false })?.isFile())
      throw new GitRepositoryError(`the file ${ref} of the repository names no commit`);
    return null;
  }
}

export interface ResolvedRef {
  /** In full: `refs/heads/…` or `refs/tags/…`. */
  name: string;
  sha: string;
}

/**
 * The commit that a branch or tag stands at, and which of the two it is; a tag of a tag is followed to its commit. A branch
 * wins over a tag of the same name. Null where neither exists.
 * @throws GitRepositoryError where there is no repository at all: that is no deleted branch.
 */
export async function resolveFullRef(repo: Repository, ref: string): Promise<ResolvedRef | null> {
  const short = ref.replace(/^refs\/(heads|tags)\//, '');
  if (!isRefName(ref)) return null;
  if (!fs.existsSync(join(repo.gitdir, 'HEAD')))
    throw new GitRepositoryError('there is no repository in its folder');
  const names = { branch: `refs/heads/${short}`, tag: `refs/tags/${short}` };
  const branch = ref.startsWith('refs/tags/') ? null : await refTarget(repo, names.branch);
  if (branch !== null) return { name: names.branch, sha: branch };
  const tag = ref.startsWith('refs/heads/') ? null : await refTarget(repo, names.tag);
  if (tag === null) return null;
  const commit = await repo.objects.use((reader) => reader.read(`${tag}^{commit}`, COMMIT_BYTES));
  return commit ? { name: names.tag, sha: commit.oid } : null;
}

/** The commit alone. @throws GitRepositoryError */
export async function resolveRef(repo: Repository, ref: string): Promise<string | null> {
  return (await resolveFullRef(repo, ref))?.sha ?? null;
}

function isObjectId(sha: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(sha);
}

/** The tree of a commit stays out of `CommitInfo`: it is of no use to people. */
export interface RawCommit {
  info: CommitInfo;
  tree: string;
}

function parseCommit(sha: string, data: Buffer): RawCommit {
  const raw = data.toString('utf8');
  const end = raw.indexOf('\n\n');
  const headers = (end < 0 ? raw : raw.slice(0, end)).split('\n');
  const message = end < 0 ? '' : raw.slice(end + 2, end + 2 + MESSAGE_CHARACTERS);
  const all = (name: string) =>
    headers.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const author = /^(.*?) ?<([^>]*)>/.exec(all('author')[0] ?? '');
  const seconds = Number(/> (-?\d+) [+-]\d{4}$/.exec(all('committer')[0] ?? '')?.[1] ?? 0);
  return {
    tree: all('tree')[0] ?? '',
    info: {
      sha,
      author: (author?.[1] ?? '').slice(0, NAME_CHARACTERS),
      email: (author?.[2] ?? '').slice(0, NAME_CHARACTERS),
      subject: (message.trimStart().split('\n')[0] ?? '').trimEnd().slice(0, 500),
      message,
      at: new Date(Math.min(Math.max(seconds, 0), 253_402_300_799) * 1000),
      parents: all('parent'),
    },
  };
}

export async function readRawCommit(reader: ObjectReader, sha: string): Promise<RawCommit | null> {
  if (!isObjectId(sha)) return null;
  const found = await reader.read(sha, COMMIT_BYTES);
  return found?.type === 'commit' && found.data ? parseCommit(sha, found.data) : null;
}

/** @throws GitRepositoryError where the repository holds no such commit. */
export async function readCommit(repo: Repository, sha: string): Promise<CommitInfo> {
  const known = repo.commits.get(sha);
  if (known) return known;
  const commit = await repo.objects.use((reader) => readRawCommit(reader, sha));
  if (!commit) throw new GitRepositoryError(`the repository holds no commit ${sha.slice(0, 64)}`);
  repo.commits.set(sha, commit.info);
  return commit.info;
}

/**
 * Whether `ancestor` is reached from `commit` by its parents; a commit descends from itself. Looks at `maxCommits` at
 * most (default: 10,000): false means that no path was found, be it a rewritten history, one that was cut off by a
 * shallow fetch, or one too long.
 */
export async function descends(
  repo: Repository,
  commit: string,
  ancestor: string,
  options: { maxCommits?: number } = {},
): Promise<boolean> {
  if (commit === ancestor) return true;
  const maxCommits = options.maxCommits ?? 10_000;
  const seen = new Set([commit]);
  return await repo.objects.use(async (reader) => {
    const parentsOf = async (sha: string): Promise<readonly string[]> => {
      const known = repo.commits.get(sha);
      if (known) return known.parents;
      const read = await readRawCommit(reader, sha);
      if (read) repo.commits.set(sha, read.info);
      return read?.info.parents ?? [];
    };
    let frontier = [commit];
    while (frontier.length > 0) {
      const parents = (await Promise.all(frontier.map(parentsOf))).flat();
      frontier = [];
      for (const parent of parents) {
        if (parent === ancestor) return true;
        if (seen.has(parent)) continue;
        if (seen.size >= maxCommits) return false;
        seen.add(parent);
        frontier.push(parent);
      }
    }
    return false;
  });
}
