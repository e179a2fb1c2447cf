/** What this domain asks of the reconcilers, which know git and forges; the composition root supplies it. */
import type {
  MergeMethod,
  PullRequest,
  PullRequestDiff,
} from '../../../schemas/api/delivery/pull-requests.ts';
import type { Context } from '../../platform/operation/context.ts';
import type { Binding } from '../bindings/index.ts';
import type { NewPullRequest } from './changes-store.ts';
import type { PullRequestRecord } from './store.ts';

/** How a branch relates to its base now. */
export interface MergeState {
  headSha: string;
  baseSha: string;
  /** Null: they have no common history. */
  mergeBase: string | null;
  mergeable: 'clean' | 'conflict';
  conflicts: string[];
  /** All changes of the branch are in the base already. */
  isIn: boolean;
  /** The branch has the same files as its merge base. */
  changesNothing: boolean;
}

export interface Merge {
  method: MergeMethod;
  /** The merge is refused when the branch has another head. */
  headSha: string;
}

export interface Merged {
  /** The commit of the base with the changes: the merge, the squash, or the last one of a rebase. */
  mergeSha: string;
  /** The head of the base before. */
  baseSha: string;
  /** Null when it was merged already, by any method. */
  method: MergeMethod | null;
}

export interface PullRequestGateway {
  /**
   * Opens a pull request in the binding's repository, for a branch that is pushed there already. Updates an open one of the
   * same branch and base instead.
   * @throws PRECONDITION_FAILED, UNAVAILABLE with what the forge answered
   */
  open(
    ctx: Context,
    binding: Binding,
    request: Omit<NewPullRequest, 'bindingId' | 'repository'>,
  ): Promise<PullRequestRecord>;
  edit(
    ctx: Context,
    binding: Binding,
    pull: PullRequestRecord,
    change: { title?: string; body?: string },
  ): Promise<void>;
  /**
   * Writes a comment. `marker` is an invisible HTML comment: a second comment with it replaces the first.
   * @throws PRECONDITION_FAILED, UNAVAILABLE
   */
  comment(
    ctx: Context,
    binding: Binding,
    pull: PullRequestRecord,
    comment: { marker: string; body: string },
  ): Promise<void>;
  /** Closes it without merging; one that is over stays as it is. */
  close(ctx: Context, binding: Binding, pull: PullRequestRecord): Promise<void>;
  /** Fetches branch and base and compares them; null when the branch is gone. Stores nothing. */
  readMergeState(
    ctx: Context,
    binding: Binding,
    ends: Pick<PullRequestRecord, 'branch' | 'base'>,
  ): Promise<MergeState | null>;
  /** The changes between the merge base and the head. @throws PRECONDITION_FAILED when the commits are gone */
  diff(ctx: Context, binding: Binding, pull: PullRequestRecord): Promise<PullRequestDiff>;
  /** Newest first, at most 100, from the local copy; none when the copy lacks them. */
  commits(ctx: Context, binding: Binding, pull: PullRequestRecord): Promise<PullRequest['commits']>;
  /**
   * Merges a pull request that Headgate keeps itself, by compare and swap. Stores nothing.
   * @throws CONFLICT when the head moved, or both sides changed the same lines; PRECONDITION_FAILED when the method does not fit
   */
  merge(ctx: Context, binding: Binding, pull: PullRequestRecord, how: Merge): Promise<Merged>;
  /** Deletes the branch of one that is over or was not opened, if its head is unchanged. False: it stays. */
  removeBranch(
    ctx: Context,
    binding: Binding,
    pull: Pick<PullRequestRecord, 'branch' | 'headSha'>,
  ): Promise<boolean>;
  /**
   * Lets the forge merge it once its checks have passed; null takes that back.
   * @throws PRECONDITION_FAILED, UNAVAILABLE with what the forge answered
   */
  autoMerge(ctx: Context, binding: Binding, pull: PullRequestRecord, wanted: Merge | null): Promise<void>;
  /** Restores a deleted branch at the last head of the pull request. False: the commit is gone, or the branch exists. */
  restoreBranch(
    ctx: Context,
    binding: Binding,
    pull: Pick<PullRequestRecord, 'branch' | 'headSha'>,
  ): Promise<boolean>;
  /** Merges the base into the branch, by a commit on top of it and never by force. @throws CONFLICT with the files */
  refresh(
    ctx: Context,
    binding: Binding,
    pull: PullRequestRecord,
  ): Promise<{ headSha: string; baseSha: string }>;
}

declare module '../../platform/operation/context.ts' {
  interface Services {
    pullRequests: PullRequestGateway;
  }
}
