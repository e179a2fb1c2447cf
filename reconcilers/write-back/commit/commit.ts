/** Commits on top of a branch that others push to as well: built beside it, and pushed by compare and swap, never by force. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  gitEnvironment,
  type RepositoryHandle,
  runGit,
} from '../../../controller/delivery/repository/index.ts';
import { conflict, unavailable } from '../../../controller/platform/operation/errors.ts';
import { type Repository, resolveRef } from '../../source/index.ts';

export interface CommitIdentity {
  name: string;
  email: string;
}

export interface Draft {
  /** By path from the root of the repository; null: the file goes. */
  files: ReadonlyMap<string, string | null>;
  message: string;
  author: CommitIdentity;
}

export interface CommitOptions<T extends Draft> {
  handle: RepositoryHandle;
  repository: Repository;
  /** A branch, without `refs/heads/`. */
  branch: string;
  committer: CommitIdentity;
  signal: AbortSignal;
  /** Where the branch does not exist yet, it begins here; null: with nothing. Absent: it must exist. */
  from?: string | null;
  /** Called again for each tip; null: there is nothing to commit. `tip` is null for a branch that is to begin with nothing. */
  draft(tip: string | null): Promise<T | null>;
  /** In which objects are written and given to the branch; in nothing where it is absent. */
  during?<R>(write: () => Promise<R>): Promise<R>;
}

/** Each begins with what was pushed last; a crowd of writers is through long before. */
const ATTEMPTS = 20;
const PAUSE_MS = 50;
const LONGEST_PAUSES = 6;
const ALL_MS = 60_000;
const RUN_MS = 30_000;

/**
 * Fetches, drafts, commits and pushes; from the beginning where somebody was faster.
 * @throws what `draft` throws; CONFLICT where others were faster each time; UNAVAILABLE where the repository does not answer
 */
export async function commitOnto<T extends Draft>(
  options: CommitOptions<T>,
): Promise<{ sha: string; draft: T } | null> {
  const late = AbortSignal.timeout(ALL_MS);
  const signal = AbortSignal.any([options.signal, late]);
  try {
    return await options.handle.serialize(options.branch, () => attempt({ ...options, signal }));
  } catch (error) {
    if (late.aborted && !options.signal.aborted)
      throw unavailable(
        'The repository did not take the commit within a minute; nothing was changed, try again',
      );
    throw error;
  }
}

async function attempt<T extends Draft>(
  options: CommitOptions<T>,
): Promise<{ sha: string; draft: T } | null> {
  const { handle, repository, branch, committer, signal, from, during = (write) => write() } = options;
  const ref = `refs/heads/${branch}`;
  for (let count = 1; count <= ATTEMPTS; count += 1) {
    signal.throwIfAborted();
    await handle.fetch(signal, ref);
    const tip = await resolveRef(repository, ref);
    if (tip === null && from === undefined)
      throw conflict(`The branch "${branch}" does not exist in the repository any more`);
    const base = tip ?? from ?? null;
    const draft = await options.draft(base);
    if (!draft) return null;
    const { sha, end } = await during(async () => {
      const made = await writeCommit(handle.gitdir, base, draft, committer, signal);
      return { sha: made, end: made && (await handle.push({ ref, sha: made, expect: tip }, signal)) };
    });
    if (sha === null) return null;
    if (end === 'ok') return { sha, draft };
    await sleep(PAUSE_MS * Math.min(count, LONGEST_PAUSES) * (0.5 + Math.random()), undefined, { signal });
  }
  throw conflict(`Others pushed to "${branch}" each time that this was to be committed; try again`);
}

/** The commit's id; null where its tree is that of the base. */
export async function writeCommit(
  gitdir: string,
  base: string | null,
  { files, message, author }: Draft,
  committer: CommitIdentity,
  signal: AbortSignal,
): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-commit-'));
  const git = async (args: readonly string[], input = ''): Promise<string> => {
    const { code, stdout, stderr } = await runGit(args, {
      cwd: gitdir,
      env: {
        ...gitEnvironment(gitdir),
        GIT_DIR: gitdir,
        GIT_INDEX_FILE: join(folder, 'index'),
        // Of a partial copy only what is there is needed.
        GIT_NO_LAZY_FETCH: '1',
        GIT_LITERAL_PATHSPECS: '1',
        GIT_AUTHOR_NAME: clean(author.name),
        GIT_AUTHOR_EMAIL: clean(author.email),
        GIT_COMMITTER_NAME: clean(committer.name),
        GIT_COMMITTER_EMAIL: clean(committer.email),
      },
      signal,
      deadlineMs: RUN_MS,
      input,
    });
    if (code !== 0)
      throw unavailable(`The repository cannot be written (git ${args[0]}: ${stderr.trim().slice(0, 300)})`);
    return stdout;
  };
  try {
    const modes = async () => {
      if (base === null) return new Map<string, string>();
      await git(['read-tree', base]);
      return modesOf(await git(['ls-files', '-s', '-z', '--', ...files.keys()]));
    };
    const treeOf = async () =>
      base === null ? EMPTY_TREE : (await git(['rev-parse', '--verify', `${base}^{tree}`])).trim();
    const texts = [...files].filter((entry): entry is [string, string] => entry[1] !== null);
    const blobs = new Map<string, string>();
    const store = async () => {
      for (const [path, text] of texts)
        blobs.set(path, (await git(['hash-object', '-w', '--stdin'], text)).trim());
    };
    const [known, before] = await Promise.all([modes(), treeOf(), store()]);
    const lines = [...files.keys()].map((path) =>
      blobs.has(path)
        ? `${known.get(path) ?? '100644'} ${blobs.get(path)}\t${path}`
        : `0 ${NOTHING}\t${path}`,
    );
    await git(['update-index', '-z', '--index-info'], lines.map((line) => `${line}\0`).join(''));
    const tree = (await git(['write-tree', '--missing-ok'])).trim();
    if (tree === before) return null;
    const parents = base === null ? [] : ['-p', base];
    return (await git(['commit-tree', tree, ...parents, '-F', '-'], message)).trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const NOTHING = '0'.repeat(40);
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** What git takes for the end of a name. */
const clean = (text: string): string => text.replace(/[<>\n\r\0]/g, ' ').trim() || 'unknown';

function modesOf(listed: string): Map<string, string> {
  return new Map(
    listed.split('\0').flatMap((line) => {
      const found = /^(\d{6}) [0-9a-f]+ \d\t(.+)$/s.exec(line);
      return found ? [[found[2] as string, found[1] as string] as const] : [];
    }),
  );
}
