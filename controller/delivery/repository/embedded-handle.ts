/** The handle of the embedded repository: it needs no fetch, and a push is a change of a ref. */
import { createKeyedMutex } from '../../platform/runtime/keyed-mutex.ts';
import { gitEnvironment } from './embedded.ts';
import type { RefUpdate, RepositoryHandle } from './handle.ts';
import { type GitEnd, runGit } from './process/git-run.ts';
import { RepositoryError } from './repository-error.ts';

const DEADLINE_MS = 30_000;
const NO_COMMIT = '0'.repeat(40);

export function embeddedHandle(gitdir: string): RepositoryHandle {
  const mutex = createKeyedMutex();
  return {
    gitdir,
    kind: 'embedded',
    fetch: async () => ({ moved: false }),
    push: (update, signal) => swapRef(gitdir, update, signal),
    remove: (branch, signal) => deleteRef(gitdir, branch, signal),
    heads: (branches, signal) => listHeads(gitdir, branches, signal),
    meet: ({ base, head }, signal) => listHeads(gitdir, [base, head], signal),
    serialize: (branch, write) => mutex.runExclusive(branch, write),
    redirectedTo: () => null,
    distrust: () => {},
  };
}

/** Atomic: git holds the lock of the ref while it compares. */
export async function swapRef(
  gitdir: string,
  { ref, sha, expect }: RefUpdate,
  signal: AbortSignal,
): Promise<'ok' | 'rejected'> {
  return changeRef(gitdir, ['--', ref, sha, expect ?? NO_COMMIT], signal);
}

export const deleteRef = (
  gitdir: string,
  { ref, expect }: { ref: string; expect: string },
  signal: AbortSignal,
): Promise<'ok' | 'rejected'> => changeRef(gitdir, ['-d', '--', ref, expect], signal);

const inside = (gitdir: string, args: readonly string[], signal: AbortSignal, input = ''): Promise<GitEnd> =>
  runGit(args, {
    cwd: gitdir,
    env: { ...gitEnvironment(gitdir), GIT_DIR: gitdir },
    signal,
    deadlineMs: DEADLINE_MS,
    input,
  });

async function changeRef(
  gitdir: string,
  change: readonly string[],
  signal: AbortSignal,
): Promise<'ok' | 'rejected'> {
  const { code, stderr } = await inside(gitdir, ['update-ref', ...change], signal);
  if (code === 0) return 'ok';
  if (/but expected|reference already exists|unable to resolve reference|\.lock': File exists/.test(stderr))
    return 'rejected';
  throw new RepositoryError('copy', `the repository cannot be written: ${stderr.trim().slice(0, 300)}`);
}

async function listHeads(
  gitdir: string,
  branches: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (branches.length === 0) return new Map();
  const names = branches.map((branch) => `refs/heads/${branch}`);
  const { code, stdout, stderr } = await inside(
    gitdir,
    ['for-each-ref', '--format=%(objectname) %(refname)', '--', ...names],
    signal,
  );
  if (code !== 0)
    throw new RepositoryError('copy', `the repository cannot be read: ${stderr.trim().slice(0, 300)}`);
  return headsOf(stdout, ' ', branches);
}

/** Parses lines of an id and the full name of a ref. */
export function headsOf(
  listed: string,
  between: string,
  branches: readonly string[],
): ReadonlyMap<string, string> {
  const wanted = new Set(branches);
  return new Map(
    listed.split('\n').flatMap((line) => {
      const [sha = '', name = ''] = line.split(between);
      const branch = name.replace(/^refs\/heads\//, '');
      return name !== branch && wanted.has(branch) ? [[branch, sha] as const] : [];
    }),
  );
}
