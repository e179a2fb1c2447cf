/** The interface to the repository of a binding: a local folder to read, and the ways to exchange commits with its origin. */

/** The columns of a binding with the address of its repository and its credentials. */
export interface BoundRepository {
  id: string;
  /** `embedded`, or an address from `readAddress`. */
  repositoryUrl: string;
  /** Branch or tag. */
  ref: string;
  sealedCredentials: string | null;
  knownHosts: string | null;
  caCertificate: string | null;
  /** Commits from which a path to the newest one is fetched. */
  headCommit: { sha: string } | null;
  appliedCommit: { sha: string } | null;
}

export interface RefUpdate {
  /** The full name: `refs/heads/…`. */
  ref: string;
  /** A commit that the folder of the handle holds. */
  sha: string;
  /** The present commit of the ref; null: it must not exist yet. */
  expect: string | null;
}

export interface RepositoryHandle {
  /** A bare repository, read in place; objects may be written to it. That of a remote may not exist before the first fetch. */
  gitdir: string;
  kind: 'embedded' | 'remote';
  /**
   * Fetches the binding's ref, or another branch, tag or commit, into `gitdir` under its own name. Afterwards the ref has the
   * commit of the remote, or is gone if the remote has none. `moved`: it had another commit before.
   * @throws RepositoryError with a message for users
   */
  fetch(signal: AbortSignal, ref?: string): Promise<{ moved: boolean }>;
  /**
   * Pushes by compare and swap, never by force. `rejected`: the ref has another commit than expected; fetch and try again.
   * @throws RepositoryError when the server denies access, or does not answer
   */
  push(update: RefUpdate, signal: AbortSignal): Promise<'ok' | 'rejected'>;
  /** Deletes a branch, by compare and swap as well. */
  remove(branch: { ref: string; expect: string }, signal: AbortSignal): Promise<'ok' | 'rejected'>;
  /**
   * The commits of these branches (without `refs/heads/`) at the origin, by one request. Branches that are gone are left out.
   * Fetches nothing.
   */
  heads(branches: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
  /**
   * Fetches two branches under their own names, with the commits down to their merge base and the files of all of these: what
   * a merge of the two reads. A branch that is gone at the origin stays here as it was. Returns what `heads` returns.
   */
  meet(branches: { base: string; head: string }, signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
  /**
   * Runs writers of one branch one after the other in this controller, so that they do not lose the compare and swap to one
   * another.
   */
  serialize<T>(branch: string, write: () => Promise<T>): Promise<T>;
  /** The address of the last redirect, within the origin of the server; null without one. */
  redirectedTo(): string | null;
  /** Marks the content of `gitdir` as damaged: the next fetch replaces the mirror of a remote. */
  distrust(): void;
}

export interface Repositories {
  of(binding: BoundRepository): RepositoryHandle;
  /** Deletes mirrors that none of these needs, and what dead processes left. */
  sweep(bindings: readonly BoundRepository[]): Promise<void>;
}

declare module '../../platform/operation/context.ts' {
  interface Services {
    repositories: Repositories;
  }
}
