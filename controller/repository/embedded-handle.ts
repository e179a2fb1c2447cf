/** The embedded repository as a binding sees it: there is nothing to fetch, and a push is a change of a ref. */
import { gitEnvironment } from './embedded.ts';
import { runGit } from './git-run.ts';
import type { RefUpdate, RepositoryHandle } from './handle.ts';
import { RepositoryError } from './repository-error.ts';

const DEADLINE_MS = 30_000;
const NO_COMMIT = '0'.repeat(40);

export function embeddedHandle(gitdir: string): RepositoryHandle {
  return {
    gitdir,
    kind: 'embedded',
    fetch: async () => ({ moved: false }),
    push: (update, signal) => swapRef(gitdir, update, signal),
    distrust: () => {},
  };
}

/** Atomic: git holds the lock of the ref while it compares. */
export async function swapRef(
  gitdir: string,
  { ref, sha, expect }: RefUpdate,
  signal: AbortSignal,
): Promise<'ok' | 'rejected'> {
  const { code, stderr } = await runGit(['update-ref', '--', ref, sha, expect ?? NO_COMMIT], {
    cwd: gitdir,
    env: { ...gitEnvironment(gitdir), GIT_DIR: gitdir },
    signal,
    deadlineMs: DEADLINE_MS,
  });
  if (code === 0) return 'ok';
  if (/but expected|reference already exists|unable to resolve reference|\.lock': File exists/.test(stderr))
    return 'rejected';
  throw new RepositoryError('copy', `the repository cannot be written: ${stderr.trim().slice(0, 300)}`);
}
