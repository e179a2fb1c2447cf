/** An environment's tie to git, its passes, and what became of every manifest. */
import Type, { type Static } from 'typebox';
import { worded } from '../patterns.ts';
import { Condition, Gate, Id, Input, Nullable, Timestamp } from './common.ts';
import { GitMode } from './environments.ts';
import { GuardResult } from './git-plan.ts';
import { GitPolicy } from './git-policy.ts';
import { REMOTE_FORGES } from './pull-requests.ts';

export const CommitInfo = Type.Object({
  sha: Type.String(),
  author: Type.String(),
  email: Type.String(),
  /** First line of the message. */
  subject: Type.String(),
  at: Timestamp,
});
export type CommitInfo = Static<typeof CommitInfo>;

export const ManifestStatus = Type.Object({
  kind: Type.String(),
  name: Type.String(),
  path: Type.String(),
  line: Type.Integer(),
  /** The object that it became; null until it was applied once. */
  objectId: Nullable(Id),
  appliedCommit: Nullable(Type.String()),
  /** The commit at which git last changed it, as far as read. */
  seenCommit: Nullable(Type.String()),
  /** Ready = Applied and RolledOut at that commit. */
  ready: Type.Boolean(),
  gate: Gate,
  /** Names of nodes that should run it and do not answer: they are not waited for. At most 100. */
  silentNodes: Type.Array(Type.String()),
  /** How many those are, however many names are given. */
  silentNodeCount: Type.Integer(),
  conditions: Type.Array(Condition),
});
export type ManifestStatus = Static<typeof ManifestStatus>;

export const GitJob = Type.Object({
  id: Id,
  type: Type.Enum(['pass', 'write-back', 'forge']),
  status: Type.Enum(['pending', 'completed', 'failed']),
  /** `applied`, `unchanged`, `partial` (some manifests refused), `observed`, `guarded` (waits for an approval), `skipped`, `failed`. */
  outcome: Nullable(Type.String()),
  trigger: Type.String(),
  commit: Nullable(CommitInfo),
  counts: Type.Object({
    created: Type.Integer(),
    changed: Type.Integer(),
    deleted: Type.Integer(),
    restored: Type.Integer(),
    renamed: Type.Integer(),
    unchanged: Type.Integer(),
    refused: Type.Integer(),
    waiting: Type.Integer(),
  }),
  /** What happened, a line each, as the push's own output tells it. */
  report: Type.Array(Type.String()),
  error: Nullable(Type.String()),
  planHash: Nullable(Type.String()),
  /** Commits since the pass before, the newest included; null where no commit is new, or more are than are counted. The newest alone is applied. */
  commitCount: Nullable(Type.Integer({ minimum: 1 })),
  /** Those that a newer one overtook, newest first; the first 50. */
  skippedCommits: Type.Array(Type.Object({ sha: Type.String(), subject: Type.String() })),
  queuedAt: Timestamp,
  startedAt: Nullable(Timestamp),
  finishedAt: Nullable(Timestamp),
});
export type GitJob = Static<typeof GitJob>;
export const GitJobList = Type.Array(GitJob);

/** How a remote lets us in. What was given is sealed and never shown again. */
export const GitCredentials = Type.Union([
  Input({ type: Type.Literal('none') }),
  /** HTTPS: a user name and a password or token. */
  Input({
    type: Type.Literal('basic'),
    username: Type.String({ minLength: 1, maxLength: 255 }),
    password: Type.String({ minLength: 1, maxLength: 4096 }),
  }),
  /** ssh: a private key in OpenSSH or PEM form, without a passphrase. */
  Input({ type: Type.Literal('ssh'), privateKey: Type.String({ minLength: 1, maxLength: 16_384 }) }),
  /** HTTPS: the GitHub App of `forge`, by tokens that are made and renewed here. */
  Input({ type: Type.Literal('app') }),
]);
export type GitCredentials = Static<typeof GitCredentials>;
export const ShownGitCredentials = Type.Object({
  type: Type.Enum(['none', 'basic', 'ssh', 'app']),
  username: Nullable(Type.String()),
  /** Of an ssh key: its public half, to be given to the server. */
  publicKey: Nullable(Type.String()),
});

/** Where the pull requests of a remote live; `none`: Headgate keeps them, which any git server does with. */
export const ForgeKind = Type.Enum(['none', ...REMOTE_FORGES]);
/** Where the pull requests of a remote live. Tokens are sealed and never shown again. */
export const BindForge = Input({
  /** `none`: Headgate keeps the pull requests of the remote itself. */
  name: ForgeKind,
  /** Of its API; absent: as the remote's address tells, for example https://api.github.com or https://git.example.com/api/v1. */
  url: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
  /** `owner/name`, of GitLab with all groups; absent: as the remote's address tells. */
  project: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  /** Absent: as before, towards the very same address. */
  token: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  /** GitHub: an app that is installed on the repository, in the place of a token. */
  app: Type.Optional(
    Input({
      /** App ID or client ID. */
      id: Type.String({
        minLength: 1,
        maxLength: 64,
        pattern: worded('^[A-Za-z0-9._-]+$', 'must be the App ID or the client ID of a GitHub App'),
      }),
      /** As GitHub generates it, PEM. */
      privateKey: Type.String({ minLength: 1, maxLength: 16_384 }),
    }),
  ),
  /** What the forge signs its webhooks with. Absent: as before. Null: calls need no signature, they only wake the loop. */
  webhookSecret: Type.Optional(Nullable(Type.String({ minLength: 16, maxLength: 255 }))),
});
export type BindForge = Static<typeof BindForge>;
export const BoundForge = Type.Object({
  name: ForgeKind,
  url: Nullable(Type.String()),
  project: Nullable(Type.String()),
  /** A token, or the key of an app. */
  hasToken: Type.Boolean(),
  /** GitHub: the app by which it is asked; null for a token. */
  appId: Nullable(Type.String()),
  hasWebhookSecret: Type.Boolean(),
  /** Why it did not do what it was asked last, and what to do; null where it did. */
  error: Nullable(Type.Object({ message: Type.String(), at: Timestamp })),
});
export type BoundForge = Static<typeof BoundForge>;
/** What the forge said when it was asked whether the token is good for everything that is done with it. */
export const CheckedForge = Type.Object({ ok: Type.Boolean(), message: Type.String() });
export type CheckedForge = Static<typeof CheckedForge>;
/** Of the embedded repository: how pull requests come into the branch. */
export const ReviewRules = Type.Object({
  /** The branch takes no pushes, only merged pull requests. */
  protectBranch: Type.Boolean(),
  /** Of others than its author, at the head that is merged. */
  requiredApprovals: Type.Integer({ minimum: 0, maximum: 10 }),
});
export type ReviewRules = Static<typeof ReviewRules>;

/** How `lastError` begins where the repository was read and the pass over it failed all the same. */
export const BROKEN_PASS = 'the last pass broke off';

const OfForge = (most: number) =>
  Type.Array(
    Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: worded('^\\S(.*\\S)?$', 'must have no blanks at its ends'),
    }),
    { maxItems: most },
  );
/** What the pull requests are like that Headgate opens for the binding, and what becomes of their branches. */
export const PullRequestSettings = Type.Object({
  /** Branches of promotions go when their pull request is merged or closed. A branch with commits of others is kept unless it is merged. */
  deleteBranches: Type.Boolean(),
  /** Opened as a draft. Of a forge only, as are labels, reviewers and assignees. */
  draft: Type.Boolean(),
  labels: OfForge(20),
  /** As the forge names users. On GitHub and Gitea `org/team` for a team. */
  reviewers: OfForge(15),
  assignees: OfForge(10),
  /** Templates with {{title}}, {{kind}}, {{name}}, {{environment}}, {{author}}, of the text also {{body}}. Null: as Headgate writes it. */
  title: Nullable(Type.String({ minLength: 1, maxLength: 200 })),
  body: Nullable(Type.String({ minLength: 1, maxLength: 10_000 })),
});
export type PullRequestSettings = Static<typeof PullRequestSettings>;

export const GitSyncStatus = Type.Object({
  environmentId: Id,
  environmentName: Type.String(),
  configured: Type.Boolean(),
  mode: GitMode,
  /** `embedded` or the remote's address without credentials. */
  repositoryUrl: Nullable(Type.String()),
  /** What people clone. */
  cloneUrl: Nullable(Type.String()),
  branch: Nullable(Type.String()),
  path: Nullable(Type.String()),
  suspended: Type.Boolean(),
  suspension: Nullable(
    Type.Object({ by: Nullable(Type.String()), at: Timestamp, reason: Nullable(Type.String()) }),
  ),
  intervalSeconds: Nullable(Type.Integer()),
  sharedPaths: Type.Array(Type.String()),
  credentials: Nullable(ShownGitCredentials),
  knownHosts: Nullable(Type.String()),
  caCertificate: Nullable(Type.String()),
  /** `POST` to it wakes the loop; it says nothing else to it. Null for the embedded repository. */
  webhookUrl: Nullable(Type.String()),
  /** Null for the embedded repository. */
  forge: Nullable(BoundForge),
  /** Null for a remote: its forge has its own. */
  review: Nullable(ReviewRules),
  /** Null while the environment is not bound. */
  pullRequests: Nullable(PullRequestSettings),
  /** What the binding allows, and what holds: the same, tightened by the Environment manifest of the applied commit. */
  policy: Nullable(Type.Object({ binding: GitPolicy, effective: GitPolicy })),
  /** True until the first plan was empty or approved: nothing is applied before. */
  waitsForFirstPlan: Type.Boolean(),
  /** A plan that is not applied before an ADMIN approves it. */
  waitingPlan: Nullable(
    Type.Object({ hash: Type.String(), guards: Type.Array(GuardResult), since: Timestamp }),
  ),
  pendingCount: Type.Integer(),
  failedCount: Type.Integer(),
  importErrorCount: Type.Integer(),
  lastSyncAt: Nullable(Timestamp),
  /** The newest commit that was read, and the newest that was applied. */
  headCommit: Nullable(CommitInfo),
  appliedCommit: Nullable(CommitInfo),
  /** Null when the last pass went through; else what is wrong and what to do. */
  lastError: Nullable(Type.String()),
  redirectedTo: Nullable(
    Type.String({
      description:
        'Where the git server redirects to, on the same host. It is followed; bind to this address.',
    }),
  ),
  gate: Gate,
  manifests: Type.Array(ManifestStatus),
});
export type GitSyncStatus = Static<typeof GitSyncStatus>;

export const ImportError = Type.Object({
  id: Id,
  path: Type.String(),
  line: Nullable(Type.Integer()),
  column: Nullable(Type.Integer()),
  kind: Nullable(Type.String()),
  name: Nullable(Type.String()),
  /** The stage that refused: parse, schema, references, graph, secrets, options, vrl, engine, identity, source. */
  stage: Type.String(),
  message: Type.String(),
  /** What to do. */
  hint: Type.String(),
  commit: Type.String(),
  createdAt: Timestamp,
});
export type ImportError = Static<typeof ImportError>;
export const ImportErrorList = Type.Array(ImportError);

export const OfEnvironment = Input({ environmentId: Id });
export const ListGitJobs = Input({
  environmentId: Id,
  status: Type.Optional(Type.Enum(['pending', 'completed', 'failed'])),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25 })),
  /** The id of a job: only those before it. */
  before: Type.Optional(Id),
});
export const ListImportErrors = Input({
  environmentId: Id,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10 })),
});
export const ConfigureGitSync = Input({
  environmentId: Id,
  mode: GitMode,
  /** `embedded`, the repository that Headgate itself serves; or an http(s):// or ssh:// address, or user@host:path. */
  repositoryUrl: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
  /** Absent: as before. Another host than before needs new ones. */
  credentials: Type.Optional(GitCredentials),
  /** Lines of a known_hosts file; an ssh remote needs its server's. Null takes them away. */
  knownHosts: Type.Optional(Nullable(Type.String({ maxLength: 65_536 }))),
  /** Certificates as PEM that an https remote may be signed by, beside the system's. Null takes them away. */
  caCertificate: Type.Optional(Nullable(Type.String({ maxLength: 65_536 }))),
  /** The parts that are to change. */
  policy: Type.Optional(Type.Partial(GitPolicy, { additionalProperties: false })),
  branch: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  /** Folder of the environment inside the repository, for example `environments/staging`. */
  path: Type.Optional(Type.String({ maxLength: 1024 })),
  /** Folders that `$file` may reach beside the path. */
  sharedPaths: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 20 })),
  intervalSeconds: Type.Optional(Type.Integer({ minimum: 5, maximum: 86_400 })),
  /** For remotes. Absent: as before. */
  forge: Type.Optional(BindForge),
  /** For the embedded repository. The parts that are to change. */
  review: Type.Optional(Type.Partial(ReviewRules, { additionalProperties: false })),
  /** Of the pull requests that Headgate opens. The parts that are to change. */
  pullRequests: Type.Optional(Type.Partial(PullRequestSettings, { additionalProperties: false })),
});
export type ConfigureGitSync = Static<typeof ConfigureGitSync>;
export const RetryGitJob = Input({ jobId: Id });
export const RetriedJobs = Type.Object({ retried: Type.Integer() });
export const SyncStarted = Type.Object({ jobId: Id });

/** Events on GET /api/events: `event: changed`. They say what to look at again, never what it is now. */
export const UI_TOPICS = [
  'pipelines',
  'fleet',
  'git',
  /** Pull requests and promotions. */
  'promotions',
  /** Rollouts by stages. */
  'rollouts',
  'secrets',
  'certificates',
  'environments',
  'teams',
  'alerts',
  'anomalies',
  'logs',
  /** Recommendations that lower costs. */
  'costs',
  /** Answers to requests for samples of events. */
  'samples',
  /** Templates and snippets of teams. */
  'library',
  'presets',
  /** Of the whole installation. */
  'settings',
] as const;
export type UiTopic = (typeof UI_TOPICS)[number];
export interface UiEvent {
  /** `*` for every environment. */
  environmentId: string;
  topics: UiTopic[];
}
