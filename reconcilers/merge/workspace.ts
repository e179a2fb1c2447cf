/** Opens the repository of a binding for one operation on a pull request. */
import type { Binding } from '../../controller/delivery/bindings/index.ts';
import {
  RepositoryError,
  type RepositoryHandle,
  TRANSIENT_FAULTS,
} from '../../controller/delivery/repository/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import { DomainError, preconditionFailed, unavailable } from '../../controller/platform/operation/errors.ts';
import { createHeavySlots, type HeavySlots } from '../../controller/platform/operation/heavy-slots.ts';
import { callerKey } from '../../controller/platform/operation/permissions.ts';
import { toUserRetryMessage } from '../../controller/platform/operation/user-retry-message.ts';
import type { CommitIdentity } from '../write-back/commit/commit.ts';
import { authorOf, headgate } from '../write-back/commit/commit-message.ts';
import { hostOf } from '../write-back/commit/workspace.ts';
import { type LocalGit, localGit } from './local-git.ts';

export interface Workspace {
  handle: RepositoryHandle;
  git: LocalGit;
  signal: AbortSignal;
  /** The caller. */
  author: CommitIdentity;
  committer: CommitIdentity;
}

const DEADLINE_MS = 90_000;

const RETRY_AFTER_SECONDS = 3;
/** An operation runs several git processes. A page sends several requests at once, so a user may queue more than run. */
export const createWorkspaceSlots = (): HeavySlots =>
  createHeavySlots(
    {
      ...{ perKey: 4, total: 12, waitingPerKey: 60, waiting: 300 },
      ...{ waitMs: 20_000, longMs: 20_000 },
    },
    () =>
      new DomainError(
        'TOO_MANY_REQUESTS',
        `Too many requests for pull requests at the moment. Try again in ${RETRY_AFTER_SECONDS} s`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      ),
  );

/**
 * Runs the work in a slot of the caller. Reconcilers limit themselves and need no slot.
 * @throws UNAVAILABLE, PRECONDITION_FAILED where the repository fails; TOO_MANY_REQUESTS
 */
export async function withWorkspace<T>(
  slots: HeavySlots,
  ctx: Context,
  binding: Binding,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const key = callerKey(ctx.actor);
  return key === null
    ? runInWorkspace(ctx, binding, work)
    : slots.run(key, ctx, () => runInWorkspace(ctx, binding, work));
}

async function runInWorkspace<T>(
  ctx: Context,
  binding: Binding,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const signal = AbortSignal.any([ctx.signal, deadline]);
  const handle = ctx.services.repositories.of(binding);
  const host = hostOf(ctx);
  const git = localGit(handle.gitdir, signal);
  try {
    return await work({ handle, git, signal, author: authorOf(ctx.actor, host), committer: headgate(host) });
  } catch (error) {
    if (deadline.aborted && !ctx.signal.aborted)
      throw unavailable(
        `The repository did not answer within ${DEADLINE_MS / 1000} s; check whether the change was made, and try again`,
      );
    if (!(error instanceof RepositoryError)) throw error;
    throw TRANSIENT_FAULTS.includes(error.fault)
      ? unavailable(`The repository cannot be used at the moment: ${toUserRetryMessage(error.message)}`)
      : preconditionFailed(`The repository rejects the operation: ${toUserRetryMessage(error.message)}`);
  }
}

/** The head of a branch in the local copy; null where it does not exist. */
export async function findBranchTip(git: LocalGit, branch: string): Promise<string | null> {
  const name = `refs/heads/${branch}^{commit}`;
  const { code, stdout } = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', name], {
    acceptedCodes: [1],
  });
  return code === 0 ? stdout.trim() : null;
}

/** Whether the local copy has the commits with their files. A partial clone may hold a commit without them. */
export async function hasCommits(git: LocalGit, commits: readonly string[]): Promise<boolean> {
  const args = ['rev-list', '--objects', '--missing=print', '--no-walk', '--filter=tree:1', '--stdin'];
  const { code, stdout } = await git(args, {
    input: commits.map((sha) => `${sha}\n`).join(''),
    acceptedCodes: [128],
  });
  return code === 0 && !/^\?/m.test(stdout);
}
