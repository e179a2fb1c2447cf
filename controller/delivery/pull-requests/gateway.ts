/** What this room asks of the reconcilers above it, that know git and forges; the composition root supplies it. */
import type { MergeMethod, PullRequest, PullRequestDiff } from '../../../schemas/api/pull-requests.ts';
import type { Context } from '../../platform/operation/context.ts';
import type { Binding } from '../bindings/index.ts';
import type { NewPullRequest, PullRequestRecord } from './store.ts';

/** How a branch and its base stand to each other now. */
export interface MergeState {
  headSha: string;
  baseSha: string;
  /** Null: they have no history in common. */
  mergeBase: string | null;
  mergeable: 'clean' | 'conflict';
  conflicts: string[];
  /** Everything that it changes is in the base already. */
  isIn: boolean;
  /** The files of the branch are those of where it began. */
  changesNothing: boolean;
}

export interface Merge {
  method: MergeMethod;
  /** Refused where the branch stands elsewhere by now. */
  headSha: string;
}

export interface Merged {
  /** The commit of the base with which it came in: of a merge, of a squash, or the last one of a rebase. */
  mergeSha: string;
  /** What the base stood at before. */
  baseSha: string;
  /** Null where it was in already, by whatever way. */
  method: MergeMethod | null;
}

export interface PullRequestGateway {
  /**
   * Opens one where the pull requests of the binding's repository live, for a branch that is pushed there already. An open
   * one of the same branch and base is brought up to date instead.
   * @throws PRECONDITION_FAILED, UNAVAILABLE with what the forge said
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
   * One comment a marker, which is an HTML comment that nobody is shown: written again, it takes the place of the first.
   * @throws PRECONDITION_FAILED, UNAVAILABLE
   */
  comment(
    ctx: Context,
    binding: Binding,
    pull: PullRequestRecord,
    comment: { marker: string; body: string },
  ): Promise<void>;
  /** Without merging it; one that is over stays as it is. */
  close(ctx: Context, binding: Binding, pull: PullRequestRecord): Promise<void>;
  /** Fetches both ends and looks; null where the branch is gone. Nothing is stored. */
  look(
    ctx: Context,
    binding: Binding,
    ends: Pick<PullRequestRecord, 'branch' | 'base'>,
  ): Promise<MergeState | null>;
  /** From where the branch began to its head. @throws PRECONDITION_FAILED where the commits are not there any more */
  diff(ctx: Context, binding: Binding, pull: PullRequestRecord): Promise<PullRequestDiff>;
  /** Newest first, at most 100, of what is here already; none where the commits are not. */
  commits(ctx: Context, binding: Binding, pull: PullRequestRecord): Promise<PullRequest['commits']>;
  /**
   * Of one that is kept here; pushed by compare and swap. Nothing is stored.
   * @throws CONFLICT where the head moved, or both changed the same lines; PRECONDITION_FAILED where the method does not fit
   */
  merge(ctx: Context, binding: Binding, pull: PullRequestRecord, how: Merge): Promise<Merged>;
  /** Takes the branch of one that is over away, as long as it stands where it was left. False: it stays. */
  removeBranch(
    ctx: Context,
    binding: Binding,
    pull: Pick<PullRequestRecord, 'branch' | 'headSha'>,
  ): Promise<boolean>;
  /**
   * Has the forge merge it once its checks have passed; null: no longer.
   * @throws PRECONDITION_FAILED, UNAVAILABLE with what the forge said
   */
  autoMerge(ctx: Context, binding: Binding, pull: PullRequestRecord, wanted: Merge | null): Promise<void>;
  /** Puts a branch that was deleted back to where the pull request ended. False: the commit is not to be had, or the branch is there. */
  restoreBranch(
    ctx: Context,
    binding: Binding,
    pull: Pick<PullRequestRecord, 'branch' | 'headSha'>,
  ): Promise<boolean>;
  /** Brings the base into the branch, by a commit on top of it and never by force. @throws CONFLICT, which names the files */
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
