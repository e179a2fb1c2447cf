/** A repository as a binding sees it: where it is read, and the ways to talk to where it comes from. */

/** The columns of a binding that say where its repository is and how it lets us in. */
export interface BoundRepository {
  id: string;
  /** `embedded`, or an address as `readAddress` gives it back. */
  repositoryUrl: string;
  /** Branch or tag. */
  ref: string;
  sealedCredentials: string | null;
  knownHosts: string | null;
  caCertificate: string | null;
  /** Commits from which a path to the newest one is looked for. */
  headCommit: { sha: string } | null;
  appliedCommit: { sha: string } | null;
}

export interface RefUpdate {
  /** In full: `refs/heads/…`. */
  ref: string;
  /** A commit that the folder of the handle holds. */
  sha: string;
  /** Where the ref must stand for this; null: it must not exist yet. */
  expect: string | null;
}

export interface RepositoryHandle {
  /** A bare repository, read in place; objects may be written to it. Of a remote it may not exist before the first fetch. */
  gitdir: string;
  kind: 'embedded' | 'remote';
  /**
   * Brings the binding's ref, or another branch, tag or commit, into `gitdir` under its own name. Afterwards the ref
   * stands where the remote has it, or is gone where the remote has none. `moved`: it stood elsewhere before.
   * @throws RepositoryError, whose message is for people.
   */
  fetch(signal: AbortSignal, ref?: string): Promise<{ moved: boolean }>;
  /**
   * Compare and swap, never by force. `rejected`: the ref stands elsewhere than expected; fetch and try again.
   * @throws RepositoryError where the server does not let us, or does not answer.
   */
  push(update: RefUpdate, signal: AbortSignal): Promise<'ok' | 'rejected'>;
  /** Takes a branch away, by compare and swap as well. */
  remove(branch: { ref: string; expect: string }, signal: AbortSignal): Promise<'ok' | 'rejected'>;
  /**
   * Where these branches (without `refs/heads/`) stand where the repository lives, by one question for all. Those that are
   * gone are left out. Nothing is fetched.
   */
  heads(branches: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
  /**
   * Brings two branches here under their own names, with the commits down to where they part and the files of all of these:
   * what a merge of the two reads. One that is gone where the repository lives stands here as it did. Answers what `heads`
   * would.
   */
  meet(branches: { base: string; head: string }, signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
  /** The address that the server redirected to at the last question, within its origin; null where it did not. */
  redirectedTo(): string | null;
  /** What `gitdir` holds is damaged: a remote's copy is made anew by the next fetch. */
  distrust(): void;
}

export interface Repositories {
  of(binding: BoundRepository): RepositoryHandle;
  /** Takes away the copies that none of these needs, and what dead processes left. */
  sweep(bindings: readonly BoundRepository[]): Promise<void>;
}

declare module '../../platform/operation/context.ts' {
  interface Services {
    repositories: Repositories;
  }
}
