/** Bindings of environments to git. */
import type { Knex } from 'knex';
import type { GuardResult } from '../../schemas/api/git-plan.ts';
import type { CommitInfo } from '../../schemas/api/git-sync.ts';
import { releaseFromGit } from '../ownership/index.ts';
import { newId } from '../platform/ids.ts';
import { commitText, dated } from './commit-text.ts';
import type { ManifestPolicy, PolicyParts } from './policy.ts';

export type GitMode = 'off' | 'observe' | 'sync' | 'push';

export interface Binding {
  id: string;
  environmentId: string;
  environmentName: string;
  teamId: string;
  mode: GitMode;
  repositoryUrl: string;
  ref: string;
  path: string;
  sharedPaths: string[];
  intervalSeconds: number;
  /** What was set of the binding's own policy. */
  policy: PolicyParts;
  /** Of the Environment and Repository manifests of the applied commit. */
  manifestPolicy: ManifestPolicy;
  /** Sealed by the keyring; null for none. Never to be logged or answered. */
  sealedCredentials: string | null;
  knownHosts: string | null;
  caCertificate: string | null;
  /** When the first plan was empty or approved; nothing is applied before. */
  begunAt: Date | null;
  waitingPlan: WaitingPlan | null;
  suspendedAt: Date | null;
  suspendedBy: string | null;
  suspendReason: string | null;
  headCommit: CommitInfo | null;
  appliedCommit: CommitInfo | null;
  lastPassAt: Date | null;
  lastError: string | null;
}

/** A plan that is not applied before somebody approves exactly it. */
export interface WaitingPlan {
  hash: string;
  guards: GuardResult[];
  since: Date;
}

const SELECT_BINDING = `SELECT b.id, b.environment_id AS "environmentId", e.name AS "environmentName", e.team_id AS "teamId",
    b.mode, b.repository_url AS "repositoryUrl", b.ref, b.path, b.shared_paths AS "sharedPaths",
    b.interval_seconds AS "intervalSeconds", b.policy,
    b.manifest_policy AS "manifestPolicy", b.sealed_credentials AS "sealedCredentials", b.known_hosts AS "knownHosts",
    b.ca_certificate AS "caCertificate", b.begun_at AS "begunAt", b.waiting_plan AS "waitingPlan",
    b.suspended_at AS "suspendedAt", b.suspended_by AS "suspendedBy", b.suspend_reason AS "suspendReason", b.head_commit AS "headCommit",
    b.applied_commit AS "appliedCommit", b.last_pass_at AS "lastPassAt", b.last_error AS "lastError"
  FROM git_bindings b JOIN environments e ON e.id = b.environment_id`;

function toBinding(row: Binding): Binding {
  const { waitingPlan } = row;
  return {
    ...row,
    waitingPlan: waitingPlan && { ...waitingPlan, since: new Date(waitingPlan.since) },
    headCommit: dated(row.headCommit),
    appliedCommit: dated(row.appliedCommit),
  };
}

export async function findBinding(db: Knex, environmentId: string): Promise<Binding | null> {
  const { rows } = await db.raw<{ rows: Binding[] }>(`${SELECT_BINDING} WHERE b.environment_id = ?`, [
    environmentId,
  ]);
  return rows[0] ? toBinding(rows[0]) : null;
}

export async function listBindings(db: Knex): Promise<Binding[]> {
  const { rows } = await db.raw<{ rows: Binding[] }>(`${SELECT_BINDING} ORDER BY e.name, b.id`);
  return rows.map(toBinding);
}

export interface BindingWrite {
  environmentId: string;
  mode: GitMode;
  repositoryUrl: string;
  ref: string;
  path: string;
  sharedPaths: string[];
  intervalSeconds: number;
}

export async function saveBinding(db: Knex, write: BindingWrite): Promise<string> {
  const columns = {
    mode: write.mode,
    repository_url: write.repositoryUrl,
    ref: write.ref,
    path: write.path,
    shared_paths: JSON.stringify(write.sharedPaths),
    interval_seconds: write.intervalSeconds,
    updated_at: db.fn.now(),
  };
  const [row] = await db('git_bindings')
    .insert({ id: newId(), environment_id: write.environmentId, ...columns })
    .onConflict('environment_id')
    .merge(columns)
    .returning('id');
  return row.id;
}

/** What git owned here belongs to the UI from now on; nothing is deleted. */
export async function orphanObjects(db: Knex, binding: { id: string; environmentId: string }): Promise<void> {
  await db('git_manifests').where({ binding_id: binding.id }).delete();
  await db('git_import_errors').where({ binding_id: binding.id }).delete();
  await releaseFromGit(db, binding.environmentId);
  await db('git_bindings')
    .where({ id: binding.id })
    .update({ head_commit: null, applied_commit: null, last_error: null });
}

export async function updateBindingStatus(
  tx: Knex,
  bindingId: string,
  status: { headCommit?: CommitInfo; appliedCommit?: CommitInfo; lastError: string | null },
): Promise<void> {
  await tx('git_bindings')
    .where({ id: bindingId })
    .update({
      last_pass_at: tx.fn.now(),
      last_error: status.lastError,
      ...(status.headCommit ? { head_commit: commitText(status.headCommit) } : {}),
      ...(status.appliedCommit ? { applied_commit: commitText(status.appliedCommit) } : {}),
    });
}
