/** What this room asks of the reconcilers above it, that know git and forges; the composition root supplies it. */
import type { MergeMethod, PullRequest, PullRequestDiff } from '../../schemas/api/pull-requests.ts';
import type { Binding } from '../git-sync/index.ts';
import type { Context } from '../platform/context.ts';
import type { NewPullRequest, PullRequestRecord } from './store.ts';

/** How a pull request and its base stand to each other now. */
export interface Standing {
  headSha: string;
  baseSha: string;
  mergeBase: string | null;
  mergeable: 'clean' | 'conflict';
  conflicts: string[];
  /** Everything that it changes is in the base already. */
  isIn: boolean;
}

export interface Merge {
  method: MergeMethod;
  /** Refused where the branch stands elsewhere by now. */
  headSha: string;
  deleteBranch: boolean;
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
  /** Without merging it; one that is over stays as it is. */
  close(ctx: Context, binding: Binding, pull: PullRequestRecord): Promise<void>;
  /** Fetches both ends and looks; null where the branch is gone. Nothing is stored. */
  look(ctx: Context, binding: Binding, pull: PullRequestRecord): Promise<Standing | null>;
  diff(ctx: Context, binding: Binding, pull: PullRequestRecord): Promise<PullRequestDiff>;
  commits(ctx: Context, binding: Binding, pull: PullRequestRecord): Promise<PullRequest['commits']>;
  /**
   * Of one that is kept here; pushed by compare and swap. Nothing is stored.
   * @throws CONFLICT where head or base moved, or both changed the same lines
   */
  merge(ctx: Context, binding: Binding, pull: PullRequestRecord, how: Merge): Promise<{ mergeSha: string }>;
  /** Brings the base into the branch, by a commit on top of it and never by force. @throws CONFLICT, which names the files */
  refresh(ctx: Context, binding: Binding, pull: PullRequestRecord): Promise<{ headSha: string }>;
}

declare module '../platform/context.ts' {
  interface Services {
    pullRequests: PullRequestGateway;
  }
}
