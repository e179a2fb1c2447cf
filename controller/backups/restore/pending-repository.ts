/**
 * The embedded repository of a restore: made beside the one in use, and put in its place by two renames once the database is
 * swapped. The database decides: a controller that dies between the two finishes them at its next start.
 */
import { access, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type DomainError, preconditionFailed } from '../../platform/operation/errors.ts';

const NAME = 'config.git';

export const gitFolder = (dataDir: string): string => join(dataDir, 'git');
export const gitdirOf = (dataDir: string): string => join(gitFolder(dataDir), NAME);
/** Where the repository of the restore `id` is made. */
export const pendingGitdir = (dataDir: string, id: string): string =>
  join(gitFolder(dataDir), `${NAME}.restore-${id}`);
/** The repository of before the last restore. */
export const previousGitdir = (dataDir: string): string => join(gitFolder(dataDir), `${NAME}.before-restore`);

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/**
 * Does nothing where it was done. Called under the lock `PREPARING`. Answers whether it put a repository in place.
 * @throws PRECONDITION_FAILED that says what is in the way, and what to do
 */
export async function finishRepository(dataDir: string, id: string): Promise<boolean> {
  const pending = pendingGitdir(dataDir, id);
  if (!(await exists(pending))) return false;
  const gitdir = gitdirOf(dataDir);
  const previous = previousGitdir(dataDir);
  const put = async (wanted: string, work: Promise<void>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      throw notInPlace(
        `${wanted} (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`,
        pending,
        gitdir,
      );
    }
  };
  if (await exists(gitdir)) {
    await put(`${previous} cannot be deleted`, rm(previous, { recursive: true, force: true }));
    await put(`${gitdir} cannot be renamed to ${previous}`, rename(gitdir, previous));
  }
  await put(`${pending} cannot be renamed to ${gitdir}`, rename(pending, gitdir));
  return true;
}

const notInPlace = (reason: string, pending: string, gitdir: string): DomainError =>
  preconditionFailed(
    `The database is restored, and the embedded repository is not yet: ${reason}. Remove what is in the way, and start Headgate where it does not run: it puts ${pending} in the place of ${gitdir}`,
  );

/** What restores have left here that did not come to their end: repositories and bundles. `keep` is the one that did. */
export async function listPendingFiles(dataDir: string, keep: string | null): Promise<string[]> {
  const names = await readdir(gitFolder(dataDir)).catch(() => []);
  const kept = keep === null ? null : `${NAME}.restore-${keep}`;
  return names
    .filter((name) => /^(config\.git\.restore-|restore-.*\.bundle$)/.test(name) && name !== kept)
    .map((name) => join(gitFolder(dataDir), name));
}
