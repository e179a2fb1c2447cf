/** An environment's tie to git, its passes, and what became of every manifest. */
import Type, { type Static } from 'typebox';
import { Condition, Gate, Id, Input, Nullable, Timestamp } from '../common.ts';
import { GitMode } from '../fleet/environments.ts';
import {
  BindForge,
  BoundForge,
  GitCredentials,
  PullRequestSettings,
  ReviewRules,
  ShownGitCredentials,
} from './forges.ts';
import { GuardResult } from './git-plan.ts';
import { GitPolicy } from './git-policy.ts';

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

/** How `lastError` begins where the repository was read and the pass over it failed all the same. */
export const BROKEN_PASS = 'the last pass broke off';

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
