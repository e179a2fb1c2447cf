/**
 * A forge: where pull requests of a repository live, as Headgate asks it. Every call is bounded in time and size, follows no
 * redirect with its credentials, and throws a `ForgeError` whose message may be shown to people: it quotes no credential.
 */
import type { CheckState, ForgeName, MergeMethod } from '../../schemas/api/delivery/pull-requests.ts';

/** A pull request as its forge has it now. Identified by forge, repository and number, never by its text. */
export interface ForgePullRequest {
  number: number;
  title: string;
  body: string;
  state: 'open' | 'merged' | 'closed';
  isDraft: boolean;
  /** Without `refs/heads/`. Of a fork it is a branch of the other repository. */
  branch: string;
  base: string;
  headSha: string;
  isFork: boolean;
  author: string;
  url: string;
  /** The commit of the base with which it came in: of a merge, of a squash, or the last one of a rebase; null while open. */
  mergeSha: string | null;
  mergedBy: string | null;
  /** The forge merges it by itself once it may; left out where the forge does not say. */
  autoMerge?: boolean;
  updatedAt: Date;
  closedAt: Date | null;
}

export interface OpenRequest {
  title: string;
  /** Markdown. */
  body: string;
  branch: string;
  base: string;
  isDraft?: boolean;
  labels?: readonly string[];
  /** As the forge names people; `org/team` for a team where it has teams. */
  reviewers?: readonly string[];
  assignees?: readonly string[];
}

/** What a merge queue is about to merge: a commit that holds the base and the pull requests before it. */
export interface MergeGroup {
  /** Without `refs/heads/`. */
  branch: string;
  headSha: string;
  /** The last pull request of it; null where its name does not say. */
  number: number | null;
}

export interface StatusReport {
  /** `headgate/<environment>` */
  context: string;
  state: CheckState;
  /** At most 140 characters are shown everywhere; longer texts are cut. */
  description: string;
  /** Where people read more. */
  url: string;
  /** The branch that the commit is looked at for; left out where it is none of this repository. */
  ref?: string;
  /** The pull request whose head the commit is. */
  number?: number;
}

export type LeftOut = (sentence: string) => void;

export interface Forge {
  readonly name: Exclude<ForgeName, 'headgate'>;
  /**
   * Where there is an open one of the same branch and base, its title and text are brought up to date and it is answered. Of a
   * new one, labels and users that the forge does not accept are left out and reported to `leftOut`, in one sentence each.
   */
  open(request: OpenRequest, leftOut?: LeftOut): Promise<ForgePullRequest>;
  update(number: number, change: { title?: string; body?: string }): Promise<void>;
  /** One that is over stays as it is. */
  close(number: number): Promise<void>;
  /** Null where the forge has none of the number. */
  get(number: number): Promise<ForgePullRequest | null>;
  /**
   * All that are open against the branch, across all pages, at most 500. An entry that cannot be read is left out and reported to
   * `leftOut`, in one sentence that names it.
   */
  listOpen(base: string, leftOut?: LeftOut): Promise<ForgePullRequest[]>;
  /** Whether an open pull request, against whatever base, comes from this branch of the repository or goes into it. */
  usesBranch(branch: string): Promise<boolean>;
  /**
   * One comment that is kept up to date. The marker is an HTML comment, which nobody is shown; it is added where the body
   * does not hold it. Texts that are too long for the forge are cut. `commentId` is what this answered before; null the first time, or where that is
   * not known: then a comment of our own with the marker is looked for before one is written.
   */
  comment(
    number: number,
    sticky: { marker: string; body: string; commentId: string | null },
  ): Promise<string>;
  setStatus(sha: string, report: StatusReport): Promise<void>;
  /**
   * Has the forge merge it once all is there that it asks for, at once where nothing is missing; null: no longer. Refused where
   * the head stands elsewhere. Only of forges that can.
   */
  autoMerge?(number: number, wanted: { headSha: string; method: MergeMethod } | null): Promise<void>;
  /** Heads of the merge queue of the branch, at most 100. Only of forges that show them as branches. */
  mergeGroups?(base: string): Promise<MergeGroup[]>;
  /** Whether the credentials are good for all of this, tried where that leaves no trace. @throws ForgeError that says what is missing */
  check(): Promise<void>;
  /** Null where the token does not end, or the forge does not say when. */
  tokenEnd(): Promise<Date | null>;
  /** What to fetch from the repository for the head of a pull request, also of a fork: `refs/pull/12/head`. */
  headRef(pull: Pick<ForgePullRequest, 'number' | 'branch' | 'isFork'>): string | null;
}

export type ForgeFault =
  /** The token is wrong, expired or may not do this. */
  | 'credentials'
  /** The project or pull request is not there, or hidden from the token. */
  | 'not-found'
  /** Asked too often; `retryAt` says when to come again. */
  | 'rate-limited'
  /** It does not answer, or not as a forge does: come again. */
  | 'unavailable'
  /** It understood and refuses; asking again does not help. */
  | 'refused';

export class ForgeError extends Error {
  override readonly name = 'ForgeError';
  readonly fault: ForgeFault;
  readonly retryAt: Date | null;

  constructor(fault: ForgeFault, message: string, retryAt: Date | null = null) {
    super(message);
    this.fault = fault;
    this.retryAt = retryAt;
  }
}

/** An answer that went well, and that is not what this forge documents. */
export class UnreadableAnswer extends ForgeError {}

/** Of an answer with a status of 400 and more. */
export class ForgeReply extends ForgeError {
  readonly status: number;
  /** What the forge gave as its reason, without credentials; one short line, or nothing. */
  readonly said: string;

  constructor(fault: ForgeFault, status: number, message: string, said: string) {
    super(fault, message);
    this.status = status;
    this.said = said;
  }
}
