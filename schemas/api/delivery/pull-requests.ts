/** Pull requests of the repository that an environment is bound to: what they change, what they would do, what people say. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Id, Input, Label, Nullable, Text, Timestamp } from '../common.ts';
import { GitPlan } from './git-plan.ts';

/** Where pull requests of a remote live. */
export const REMOTE_FORGES = [
  'github',
  'gitlab',
  'gitea',
  'bitbucket',
  'bitbucket-data-center',
  'azure-devops',
] as const;
/** Where pull requests live: `headgate` keeps its own for the embedded repository, and for a remote without a forge. */
export const FORGES = ['headgate', ...REMOTE_FORGES] as const;
export const ForgeName = Type.Enum([...FORGES]);
export type ForgeName = Static<typeof ForgeName>;

/** Forges that merge a pull request by themselves once its checks have passed. */
export const AUTO_MERGING: readonly ForgeName[] = [
  'github',
  'gitlab',
  'gitea',
  'bitbucket-data-center',
  'azure-devops',
];

export const CHECK_STATES = ['pending', 'success', 'failure', 'error'] as const;
export const CheckState = Type.Enum([...CHECK_STATES]);
export type CheckState = Static<typeof CheckState>;

/** What a pull request would do to one environment: the commit status `headgate/<environment>`. */
export const PullRequestCheck = Type.Object({
  environmentId: Id,
  environmentName: Type.String(),
  /** pending: not planned yet at this head. failure: something would be refused. error: no plan could be made. */
  state: CheckState,
  /** One line, as the commit status has it. */
  summary: Type.String(),
  headSha: Type.String(),
  computedAt: Nullable(Timestamp),
});
export type PullRequestCheck = Static<typeof PullRequestCheck>;

export const PullRequestSummary = Type.Object({
  id: Id,
  number: Type.Integer(),
  title: Type.String(),
  base: Type.String(),
  branch: Type.String(),
  headSha: Type.String(),
  state: Type.Enum(['open', 'merged', 'closed']),
  author: Type.String(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  forge: ForgeName,
  /** On its forge; null for one that is kept here. */
  url: Nullable(Type.String()),
  isDraft: Type.Boolean(),
  /** From another repository: only what reveals nothing is checked. */
  isFork: Type.Boolean(),
  /** Against the base as it stands now; unknown until somebody has looked. */
  mergeable: Type.Enum(['unknown', 'clean', 'conflict']),
  /** Of environments that the caller may look at. */
  checks: Type.Array(PullRequestCheck),
  /** At this head. */
  approvals: Type.Integer(),
  /** The promotion for which it was opened. */
  promotionId: Nullable(Id),
});
export type PullRequestSummary = Static<typeof PullRequestSummary>;
export const PullRequestList = Type.Array(PullRequestSummary);

export const PullRequestComment = Type.Object({
  id: Id,
  author: Type.String(),
  body: Type.String(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  /** Written by the one who asks. */
  own: Type.Boolean(),
});
export const REVIEW_VERDICTS = ['approve', 'request-changes'] as const;
export const PullRequestReview = Type.Object({
  id: Id,
  reviewer: Type.String(),
  verdict: Type.Enum([...REVIEW_VERDICTS]),
  body: Type.String(),
  headSha: Type.String(),
  /** It was about the head as it is now. */
  current: Type.Boolean(),
  createdAt: Timestamp,
});
export const PullRequestCommit = Type.Object({
  sha: Type.String(),
  author: Type.String(),
  subject: Type.String(),
  at: Timestamp,
});

export const MERGE_METHODS = ['merge', 'squash', 'rebase'] as const;
export const MergeMethod = Type.Enum([...MERGE_METHODS]);
export type MergeMethod = Static<typeof MergeMethod>;

/** Whether something may be done here by the one who asks, now; null: yes. Else why not, and what to do. */
export const PullRequestRefusal = Type.Object({ refusal: Nullable(Type.String()) });

export const PullRequest = Type.Object({
  ...PullRequestSummary.properties,
  body: Type.String(),
  baseSha: Nullable(Type.String()),
  /** Paths that base and branch changed in ways that do not go together. */
  conflicts: Type.Array(Type.String()),
  mergeSha: Nullable(Type.String()),
  mergeMethod: Nullable(Type.String()),
  mergedBy: Nullable(Type.String()),
  closedAt: Nullable(Timestamp),
  /** Oldest first, at most 500 of each. Empty for those of a forge: they are read and written there. */
  comments: Type.Array(PullRequestComment),
  reviews: Type.Array(PullRequestReview),
  /** Newest first, at most 100. */
  commits: Type.Array(PullRequestCommit),
  requiredApprovals: Type.Integer(),
  /** Whether its forge merges it by itself once its checks have passed; null where the forge cannot. */
  autoMerge: Nullable(Type.Boolean()),
  /** What its forge left out when it was opened, such as an unknown reviewer. */
  notice: Nullable(Type.String()),
  merge: PullRequestRefusal,
  review: PullRequestRefusal,
});
export type PullRequest = Static<typeof PullRequest>;

export const ListPullRequests = Input({
  environmentId: Id,
  state: Type.Optional(Type.Enum(['open', 'merged', 'closed'])),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  /** Only those with a smaller number. */
  before: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
});
const Which = { environmentId: Id, number: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) };
export const WhichPullRequest = Input(Which);

/** A file that it changes, from the merge base to the head. */
export const ChangedFile = Type.Object({
  path: Type.String(),
  /** Of a renamed one. */
  oldPath: Nullable(Type.String()),
  status: Type.Enum(['added', 'modified', 'deleted', 'renamed']),
  additions: Type.Integer(),
  deletions: Type.Integer(),
  /** Unified diff; null for one that is no text or too large. */
  patch: Nullable(Type.String()),
});
export const PullRequestDiff = Type.Object({
  headSha: Type.String(),
  mergeBase: Nullable(Type.String()),
  /** At most 300, with 1 MiB of patches. */
  files: Type.Array(ChangedFile),
  filesTotal: Type.Integer(),
});
export type PullRequestDiff = Static<typeof PullRequestDiff>;

/** What merging it would do to the environment, as far as looked at. */
export const PullRequestPlan = Type.Object({
  check: PullRequestCheck,
  /** Of the merge of head and base; null where there is none: a conflict, a fork, a plan that is not made yet. */
  plan: Nullable(GitPlan),
  /** What kept the plan from being made; null where nothing did. */
  reason: Nullable(Type.String()),
});
export type PullRequestPlan = Static<typeof PullRequestPlan>;

const Branch = Type.String({ minLength: 1, maxLength: 255 });
const Title = Label(200);
const Body = Text(20_000);
/** Of a branch that is in the repository already. */
export const OpenPullRequest = Input({
  environmentId: Id,
  branch: Branch,
  title: Title,
  body: Type.Optional(Body),
});
export const EditPullRequest = Input({
  ...Which,
  title: Type.Optional(Title),
  body: Type.Optional(Body),
});
export const CommentPullRequest = Input({
  ...Which,
  body: Type.String({ minLength: 1, maxLength: 20_000, pattern: worded('\\S', 'must not be blank') }),
});
export const ReviewPullRequest = Input({
  ...Which,
  verdict: Type.Enum([...REVIEW_VERDICTS]),
  /** What was looked at: a verdict about another head is refused. */
  headSha: Type.String({
    pattern: worded('^[0-9a-f]{40,64}$', 'must be the whole id of a commit, 40 or 64 hexadecimal digits'),
  }),
  body: Type.Optional(Body),
});
export const MergePullRequest = Input({
  ...Which,
  method: MergeMethod,
  headSha: Type.String({
    pattern: worded('^[0-9a-f]{40,64}$', 'must be the whole id of a commit, 40 or 64 hexadecimal digits'),
  }),
  deleteBranch: Type.Optional(Type.Boolean({ default: true })),
});
/** Of one that lives on a forge which can. */
export const AutoMergePullRequest = Input({
  ...Which,
  enabled: Type.Boolean(),
  headSha: Type.String({
    pattern: worded('^[0-9a-f]{40,64}$', 'must be the whole id of a commit, 40 or 64 hexadecimal digits'),
  }),
  /** At GitLab the project's own method holds, but for a squash. */
  method: Type.Optional(Type.Enum([...MERGE_METHODS], { default: 'merge' })),
});
export const MergedPullRequest = Type.Object({ number: Type.Integer(), mergeSha: Type.String() });
export const ChangedPullRequest = Type.Object({ number: Type.Integer() });
