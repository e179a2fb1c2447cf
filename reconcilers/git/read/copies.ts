/** The open repositories that bindings are read from. Bindings of one folder share a reader; it closes with the last of them. */
import { openRepository, type Repository } from '../../source/index.ts';

export interface Copies {
  of(environmentId: string, gitdir: string): Repository;
  forget(environmentId: string): Promise<void>;
  close(): Promise<void>;
}

export function openCopies(): Copies {
  const open = new Map<string, Repository>();
  const used = new Map<string, string>();

  async function closeUnused(gitdir: string | undefined): Promise<void> {
    if (gitdir === undefined || [...used.values()].includes(gitdir)) return;
    const repository = open.get(gitdir);
    open.delete(gitdir);
    await repository?.close();
  }

  return {
    of(environmentId, gitdir) {
      const before = used.get(environmentId);
      used.set(environmentId, gitdir);
      // Not awaited: the reader of the folder before closes by itself.
      if (before !== gitdir) void closeUnused(before);
      const known = open.get(gitdir) ?? openRepository(gitdir);
      open.set(gitdir, known);
      return known;
    },
    async forget(environmentId) {
      const gitdir = used.get(environmentId);
      used.delete(environmentId);
      await closeUnused(gitdir);
    },
    async close() {
      await Promise.all([...open.values()].map((repository) => repository.close()));
    },
  };
}
