/** The repository of a binding, opened for one piece of work on a pull request. */
import type { Binding } from '../../controller/delivery/bindings/index.ts';
import {
  RepositoryError,
  type RepositoryFault,
  type RepositoryHandle,
} from '../../controller/delivery/repository/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import { DomainError, preconditionFailed, unavailable } from '../../controller/platform/operation/errors.ts';
import { createHeavySlots } from '../../controller/platform/operation/heavy-slots.ts';
import { callerKey } from '../../controller/platform/operation/operation.ts';
import { toUserRetryMessage } from '../../controller/platform/operation/user-retry-message.ts';
import type { CommitIdentity } from '../write-back/commit/commit.ts';
import { authorOf, headgate } from '../write-back/commit/commit-message.ts';
import { hostOf } from '../write-back/commit/workspace.ts';
import { type LocalGit, localGit } from './local-git.ts';

export interface Workspace {
  handle: RepositoryHandle;
  git: LocalGit;
  signal: AbortSignal;
  /** Who asks for it, as commits name them. */
  author: CommitIdentity;
  committer: CommitIdentity;
}

const ALL_MS = 90_000;

/**
 * Each piece of work runs a few processes of git. Pages ask for several at once and again as they are looked at, so more may
 * wait of one user than there are slots for.
 */
const RETRY_AFTER_SECONDS = 3;
const slots = createHeavySlots(
  {
    ...{ perKey: 4, total: 12, waitingPerKey: 60, waiting: 300 },
    ...{ waitMs: 20_000, longMs: 20_000 },
  },
  () =>
    new DomainError(
      'TOO_MANY_REQUESTS',
      `Too much is asked of pull requests at the moment. Try again in ${RETRY_AFTER_SECONDS} s`,
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    ),
);

/** What passes by itself. */
const PASSING: readonly RepositoryFault[] = ['unreachable', 'timeout', 'asked-to-wait', 'server'];

/**
 * In a slot of whoever asks; reconcilers, which bound themselves, need none.
 * @throws UNAVAILABLE, PRECONDITION_FAILED where the repository does not let us, in words; TOO_MANY_REQUESTS
 */
export async function inWorkspace<T>(
  ctx: Context,
  binding: Binding,
  work: (bench: Workspace) => Promise<T>,
): Promise<T> {
  const key = callerKey(ctx.actor);
  return key === null ? atOnce(ctx, binding, work) : slots.run(key, ctx, () => atOnce(ctx, binding, work));
}

async function atOnce<T>(ctx: Context, binding: Binding, work: (bench: Workspace) => Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(ALL_MS);
  const signal = AbortSignal.any([ctx.signal, late]);
  const handle = ctx.services.repositories.of(binding);
  const host = hostOf(ctx);
  const git = localGit(handle.gitdir, signal);
  try {
    return await work({ handle, git, signal, author: authorOf(ctx.actor, host), committer: headgate(host) });
  } catch (error) {
    if (late.aborted && !ctx.signal.aborted)
      throw unavailable(`The repository did not answer within ${ALL_MS / 1000} s; look whether it was done`);
    if (!(error instanceof RepositoryError)) throw error;
    throw PASSING.includes(error.fault)
      ? unavailable(`The repository cannot be used at the moment: ${toUserRetryMessage(error.message)}`)
      : preconditionFailed(`The repository does not take it: ${toUserRetryMessage(error.message)}`);
  }
}

/** Where a branch stands here; null where there is none. */
export async function tipOf(git: LocalGit, branch: string): Promise<string | null> {
  const name = `refs/heads/${branch}^{commit}`;
  const { code, stdout } = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', name], {
    codes: [1],
  });
  return code === 0 ? stdout.trim() : null;
}

/** Whether the commits are here with their files. A copy may hold a commit alone. */
export async function holds(git: LocalGit, commits: readonly string[]): Promise<boolean> {
  const args = ['rev-list', '--objects', '--missing=print', '--no-walk', '--filter=tree:1', '--stdin'];
  const { code, stdout } = await git(args, {
    input: commits.map((sha) => `${sha}\n`).join(''),
    codes: [128],
  });
  return code === 0 && !/^\?/m.test(stdout);
}
