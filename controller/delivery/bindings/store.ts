/** Bindings of environments to git. */
import type { Knex } from 'knex';
import type { BoundForge, ReviewRules } from '../../../schemas/api/delivery/forges.ts';
import type { CommitInfo } from '../../../schemas/api/delivery/git-sync.ts';
import { newId } from '../../platform/operation/ids.ts';
import { releaseFromGit } from '../ownership/index.ts';
import { datedCommit } from './commit-text.ts';
import type { ManifestPolicy, PolicyParts } from './policy/policy.ts';
import type { PullRequestSettingsParts } from './policy/pull-request-settings.ts';
import type { WaitingPlan } from './status-store.ts';

export type GitMode = 'off' | 'observe' | 'sync' | 'push';

export interface Binding {
  id: string;
  environmentId: string;
  /** Grows with each change of the binding by a user. */
  revision: number;
  environmentName: string;
  teamId: string;
  mode: GitMode;
  repositoryUrl: string;
  /** Branch or tag. */
  ref: string;
  /** The full name of `ref` when it, or its predecessor, was last found: `refs/heads/…` or `refs/tags/…`. */
  resolvedRef: string | null;
  path: string;
  sharedPaths: string[];
  intervalSeconds: number;
  /** The parts of its own policy that somebody set. */
  policy: PolicyParts;
  /** From the Environment and Repository manifests of the applied commit. */
  manifestPolicy: ManifestPolicy;
  /** Sealed by the keyring; null for none. Must never be logged or returned. */
  sealedCredentials: string | null;
  knownHosts: string | null;
  caCertificate: string | null;
  /** Where the pull requests of a remote live; `none`: Headgate keeps them itself. */
  forge: ForgeChoice;
  forgeUrl: string | null;
  forgeProject: string | null;
  /** Both sealed by the keyring. Must never be logged or returned. */
  sealedForgeToken: string | null;
  /** GitHub: the app whose private key is sealed instead of a token. */
  forgeAppId: string | null;
  sealedWebhookSecret: string | null;
  forgeError: ForgeError | null;
  /** Embedded repository: the branch only takes merged pull requests with this many approvals. */
  protectBranch: boolean;
  requiredApprovals: number;
  /** The settings of its pull requests that somebody set. */
  pullRequestSettings: PullRequestSettingsParts;
  /** When the first plan was empty or approved; nothing is applied before. */
  begunAt: Date | null;
  /** The applied commit, when it is not a descendant of the one before: deletions wait for a commit on top. */
  rewrittenCommit: string | null;
  waitingPlan: WaitingPlan | null;
  suspendedAt: Date | null;
  suspendedBy: string | null;
  suspendReason: string | null;
  /** When a pass first read the remote with its present address and credentials; null before. Unused for the embedded one. */
  readAt: Date | null;
  headCommit: CommitInfo | null;
  appliedCommit: CommitInfo | null;
  lastPassAt: Date | null;
  lastError: string | null;
  /** Where the server redirects to, within its origin; null when it does not. */
  redirectedTo: string | null;
}

export type ForgeChoice = BoundForge['name'];

/** Why the last request to the forge failed. */
export interface ForgeError {
  message: string;
  at: Date;
}

const SELECT_BINDING = `SELECT b.id, b.environment_id AS "environmentId", b.revision, e.name AS "environmentName", e.team_id AS "teamId",
    b.mode, b.repository_url AS "repositoryUrl", b.ref, b.resolved_ref AS "resolvedRef", b.path, b.shared_paths AS "sharedPaths",
    b.interval_seconds AS "intervalSeconds", b.policy,
    b.manifest_policy AS "manifestPolicy", b.sealed_credentials AS "sealedCredentials", b.known_hosts AS "knownHosts",
    b.ca_certificate AS "caCertificate", b.forge, b.forge_url AS "forgeUrl", b.forge_project AS "forgeProject",
    b.sealed_forge_token AS "sealedForgeToken", b.forge_app_id AS "forgeAppId", b.sealed_webhook_secret AS "sealedWebhookSecret", b.forge_error AS "forgeError",
    b.protect_branch AS "protectBranch", b.required_approvals AS "requiredApprovals", b.pull_request_settings AS "pullRequestSettings", b.begun_at AS "begunAt", b.rewritten_commit AS "rewrittenCommit", b.waiting_plan AS "waitingPlan",
    b.suspended_at AS "suspendedAt", b.suspended_by AS "suspendedBy", b.suspend_reason AS "suspendReason", b.read_at AS "readAt", b.head_commit AS "headCommit",
    b.applied_commit AS "appliedCommit", b.last_pass_at AS "lastPassAt", b.last_error AS "lastError",
    b.redirected_to AS "redirectedTo"
  FROM git_bindings b JOIN environments e ON e.id = b.environment_id`;

function toBinding(row: Binding): Binding {
  const { waitingPlan, forgeError } = row;
  return {
    ...row,
    forgeError: forgeError && { ...forgeError, at: new Date(forgeError.at) },
    waitingPlan: waitingPlan && { ...waitingPlan, since: new Date(waitingPlan.since) },
    headCommit: datedCommit(row.headCommit),
    appliedCommit: datedCommit(row.appliedCommit),
  };
}

export async function findBinding(db: Knex, environmentId: string): Promise<Binding | null> {
  const { rows } = await db.raw<{ rows: Binding[] }>(`${SELECT_BINDING} WHERE b.environment_id = ?`, [
    environmentId,
  ]);
  return rows[0] ? toBinding(rows[0]) : null;
}

/** The name of an environment, bound or not. */
export async function environmentNameOf(db: Knex, environmentId: string): Promise<string> {
  return (await db('environments').where({ id: environmentId }).first('name'))?.name ?? '';
}

export async function listBindings(db: Knex): Promise<Binding[]> {
  const { rows } = await db.raw<{ rows: Binding[] }>(`${SELECT_BINDING} ORDER BY e.name, b.id`);
  return rows.map(toBinding);
}

export interface BindingWrite {
  /** From `lockBinding`; values are sealed for this id. */
  id?: string;
  environmentId: string;
  mode: GitMode;
  repositoryUrl: string;
  ref: string;
  path: string;
  sharedPaths: string[];
  intervalSeconds: number;
  /** Omitted: unchanged. */
  policy?: PolicyParts;
  /** Omitted: none. */
  sealedCredentials?: string | null;
  knownHosts?: string | null;
  caCertificate?: string | null;
  /** Omitted: unchanged; none for a new binding. */
  forge?: ForgeColumns;
  /** Omitted: unchanged. */
  review?: ReviewRules;
  /** Omitted: unchanged. */
  pullRequestSettings?: PullRequestSettingsParts;
}

/** Where the pull requests of a remote live, and its sealed credentials. */
export interface ForgeColumns {
  forge: ForgeChoice;
  forgeUrl: string | null;
  forgeProject: string | null;
  /** The private key of an app. */
  sealedForgeToken: string | null;
  forgeAppId: string | null;
  sealedWebhookSecret: string | null;
}

export const NO_FORGE: ForgeColumns = {
  forge: 'none',
  forgeUrl: null,
  forgeProject: null,
  sealedForgeToken: null,
  forgeAppId: null,
  sealedWebhookSecret: null,
};

/**
 * The environment of the binding, and those of bindings that have read the same repository with it, by credentials of their
 * own if they have some. Empty for an unknown binding.
 */
export async function environmentsBeside(db: Knex, bindingId: string): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `SELECT o.environment_id AS id FROM git_bindings b JOIN git_bindings o ON o.repository_url = b.repository_url
     WHERE b.id = ? AND (o.id = b.id OR o.repository_url = 'embedded' OR (b.read_at IS NOT NULL AND o.read_at IS NOT NULL
         AND (o.sealed_credentials IS NOT NULL OR b.sealed_credentials IS NULL))) ORDER BY 1`,
    [bindingId],
  );
  return rows.map(({ id }) => id);
}

const forgeColumns = (forge: ForgeColumns) => ({
  forge: forge.forge,
  forge_url: forge.forgeUrl,
  forge_project: forge.forgeProject,
  sealed_forge_token: forge.sealedForgeToken,
  forge_app_id: forge.forgeAppId,
  sealed_webhook_secret: forge.sealedWebhookSecret,
});

/** Ids of the other teams that have an environment bound to the repository. */
export async function otherTeamsOf(db: Knex, repository: string, environmentId: string): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `SELECT DISTINCT e.team_id AS id FROM git_bindings b JOIN environments e ON e.id = b.environment_id
     WHERE b.repository_url = ? AND b.mode <> 'off' AND e.team_id <> (SELECT team_id FROM environments WHERE id = ?)`,
    [repository, environmentId],
  );
  return rows.map(({ id }) => id);
}

export async function saveBinding(db: Knex, write: BindingWrite): Promise<string> {
  const columns = {
    mode: write.mode,
    repository_url: write.repositoryUrl,
    sealed_credentials: write.sealedCredentials ?? null,
    known_hosts: write.knownHosts ?? null,
    ca_certificate: write.caCertificate ?? null,
    ref: write.ref,
    path: write.path,
    shared_paths: JSON.stringify(write.sharedPaths),
    interval_seconds: write.intervalSeconds,
    ...(write.policy ? { policy: JSON.stringify(write.policy) } : {}),
    ...(write.forge ? forgeColumns(write.forge) : {}),
    ...(write.review
      ? { protect_branch: write.review.protectBranch, required_approvals: write.review.requiredApprovals }
      : {}),
    ...(write.pullRequestSettings
      ? { pull_request_settings: JSON.stringify(write.pullRequestSettings) }
      : {}),
    updated_at: db.fn.now(),
  };
  // Another tree counts as a first binding: its plan must be approved first.
  const sameTree = db.raw(
    'CASE WHEN git_bindings.path = excluded.path AND git_bindings.repository_url = excluded.repository_url THEN git_bindings.begun_at END',
  );
  // What was read from another repository does not apply to this one.
  const ofSameRepository = (column: string) =>
    db.raw('CASE WHEN git_bindings.repository_url = excluded.repository_url THEN git_bindings.?? END', [
      column,
    ]);
  // A successful read with other credentials does not prove that these work.
  const sameAccess = db.raw(
    `CASE WHEN (git_bindings.repository_url, git_bindings.sealed_credentials, git_bindings.known_hosts, git_bindings.ca_certificate)
       IS NOT DISTINCT FROM (excluded.repository_url, excluded.sealed_credentials, excluded.known_hosts, excluded.ca_certificate)
     THEN git_bindings.read_at END`,
  );
  const [row] = await db('git_bindings')
    .insert({ id: write.id ?? newId(), environment_id: write.environmentId, ...columns })
    .onConflict('environment_id')
    .merge({
      ...columns,
      begun_at: sameTree,
      head_commit: ofSameRepository('head_commit'),
      resolved_ref: ofSameRepository('resolved_ref'),
      read_at: sameAccess,
      revision: db.raw('git_bindings.revision + 1'),
    })
    .returning('id');
  return (row as { id: string }).id;
}

/** Gives everything that git owned in the environment to the UI; nothing is deleted. */
export async function orphanObjects(db: Knex, binding: { id: string; environmentId: string }): Promise<void> {
  await db('git_manifests').where({ binding_id: binding.id }).delete();
  await db('git_import_errors').where({ binding_id: binding.id }).delete();
  await releaseFromGit(db, binding.environmentId);
  await db('git_bindings').where({ id: binding.id }).update({
    read_at: null,
    head_commit: null,
    applied_commit: null,
    last_error: null,
    begun_at: null,
    rewritten_commit: null,
    waiting_plan: null,
    waiting_actions: [],
    manifest_policy: '{}',
  });
  for (const table of ['object_overrides', 'git_approvals', 'git_holds'])
    await db(table).where({ binding_id: binding.id }).delete();
}
