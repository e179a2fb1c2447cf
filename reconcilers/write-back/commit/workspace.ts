/** The repository of a binding, opened for one piece of writing. */
import type { Binding } from '../../../controller/delivery/bindings/index.ts';
import {
  duringWrite,
  RepositoryError,
  TRANSIENT_FAULTS,
} from '../../../controller/delivery/repository/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { preconditionFailed, unavailable } from '../../../controller/platform/operation/errors.ts';
import { toUserRetryMessage } from '../../../controller/platform/operation/user-retry-message.ts';
import { openRepository, type Repository, type SourceCache } from '../../source/index.ts';
import { listFiles, readBlob, readTip, type Tip } from '../branch-tip.ts';
import { CannotEdit } from '../yaml/cannot-edit.ts';
import { type CommitOptions, commitOnto, type Draft } from './commit.ts';
import { headgate } from './commit-message.ts';

export interface RepositoryLocation {
  ctx: Context;
  binding: Binding;
  repository: Repository;
  /** Brings a ref, in full, here from where the repository lives. */
  fetch(ref: string): Promise<unknown>;
  tip(sha: string): Promise<Tip>;
  /** The paths of all files below a folder. */
  list(sha: string, folder: string): Promise<string[]>;
  /** Null where there is no such text. */
  read(sha: string, path: string): Promise<string | null>;
  commit<T extends Draft>(
    options: Pick<CommitOptions<T>, 'branch' | 'from' | 'draft'>,
  ): ReturnType<typeof commitOnto<T>>;
}

/** @throws UNAVAILABLE where the same may succeed later; PRECONDITION_FAILED where the repository does not let us, in words */
export async function inRepository<T>(
  ctx: Context,
  cache: SourceCache,
  binding: Binding,
  work: (place: RepositoryLocation) => Promise<T>,
): Promise<T> {
  const handle = ctx.services.repositories.of(binding);
  const repository = openRepository(handle.gitdir);
  const committer = headgate(hostOf(ctx));
  const { signal } = ctx;
  try {
    return await work({
      ctx,
      binding,
      repository,
      fetch: (ref) => handle.fetch(signal, ref),
      tip: (sha) => readTip(sha, { repository, cache, binding, signal }),
      list: (sha, folder) => listFiles(handle.gitdir, sha, folder, signal),
      read: (sha, path) => readBlob(repository, sha, path),
      commit: (options) =>
        commitOnto({
          ...{ ...options, handle, repository, committer, signal },
          during: (write) => duringWrite(ctx.db, { handle, signal }, write),
        }),
    });
  } catch (error) {
    if (!(error instanceof RepositoryError || error instanceof CannotEdit)) throw error;
    const message = `Nothing was written to git: ${toUserRetryMessage(error.message)}`;
    throw error instanceof RepositoryError && TRANSIENT_FAULTS.includes(error.fault)
      ? unavailable(message)
      : preconditionFailed(message);
  } finally {
    await repository.close();
  }
}

export const hostOf = (ctx: Pick<Context, 'services'>): string => new URL(ctx.services.baseUrl).hostname;

/** The loop looks at once; the timer would too. */
export async function wake(
  { db, services }: Context,
  { environmentId }: Pick<Binding, 'environmentId'>,
): Promise<void> {
  await services.bus.publish(db, { type: 'wake', loop: 'git', key: environmentId, trigger: 'write-back' });
  await services.bus.publish(db, { type: 'ui', environmentId, topics: ['git'] });
}
