/** What passes and forges leave at a binding: where it stands, and what waits. */
import type { Knex } from 'knex';
import type { GuardResult } from '../../../schemas/api/delivery/git-plan.ts';
import type { CommitInfo } from '../../../schemas/api/delivery/git-sync.ts';
import { commitText } from './commit-text.ts';
import { lockOutPasses } from './pass-locks-store.ts';
import type { ManifestPolicy } from './policy/policy.ts';
import type { Binding } from './store.ts';

/** A plan that is only applied after somebody approves exactly it. */
export interface WaitingPlan {
  hash: string;
  guards: GuardResult[];
  since: Date;
}

export async function updateRedirect(
  db: Knex,
  bindingId: string,
  redirectedTo: string | null,
): Promise<void> {
  await db('git_bindings').where({ id: bindingId }).update({ redirected_to: redirectedTo });
}

export async function updateBindingStatus(
  tx: Knex,
  bindingId: string,
  status: {
    headCommit?: CommitInfo;
    resolvedRef?: string;
    appliedCommit?: CommitInfo;
    /** The policy in the applied commit. */
    manifestPolicy?: ManifestPolicy;
    begunAt?: Date;
    rewrittenCommit?: string | null;
    /** Null: none waits. Absent: nobody has looked. */
    waitingPlan?: (Omit<WaitingPlan, 'since'> & { actions: readonly string[] }) | null;
    lastError: string | null;
  },
): Promise<void> {
  const { waitingPlan } = status;
  // A plan that still waits keeps its time.
  const waiting = waitingPlan && {
    waiting_plan: tx.raw(
      `?::jsonb || jsonb_build_object('since',
         CASE WHEN waiting_plan->>'hash' = ? THEN waiting_plan->'since' ELSE to_jsonb(now()) END)`,
      [JSON.stringify({ hash: waitingPlan.hash, guards: waitingPlan.guards }), waitingPlan.hash],
    ),
    waiting_actions: waitingPlan.actions,
  };
  await tx('git_bindings')
    .where({ id: bindingId })
    .update({
      last_pass_at: tx.fn.now(),
      last_error: status.lastError,
      ...(status.resolvedRef === undefined ? {} : { resolved_ref: status.resolvedRef }),
      ...(status.headCommit
        ? { head_commit: commitText(status.headCommit), read_at: tx.raw('coalesce(read_at, now())') }
        : {}),
      ...(status.appliedCommit ? { applied_commit: commitText(status.appliedCommit) } : {}),
      ...(status.manifestPolicy ? { manifest_policy: JSON.stringify(status.manifestPolicy) } : {}),
      ...(status.begunAt ? { begun_at: status.begunAt } : {}),
      ...(status.rewrittenCommit === undefined ? {} : { rewritten_commit: status.rewrittenCommit }),
      ...(waiting ?? (waitingPlan === null ? { waiting_plan: null, waiting_actions: [] } : {})),
    });
}

/** Returns false when nothing changes. */
export async function setSuspended(
  tx: Knex,
  { id, environmentId }: Pick<Binding, 'id' | 'environmentId'>,
  suspension: { by: string; reason: string } | null,
): Promise<boolean> {
  await lockOutPasses(tx, environmentId);
  const rows = tx('git_bindings').where({ id }).increment('revision');
  const changed = suspension
    ? await rows
        .whereNull('suspended_at')
        .update({ suspended_at: tx.fn.now(), suspended_by: suspension.by, suspend_reason: suspension.reason })
    : await rows
        .whereNotNull('suspended_at')
        .update({ suspended_at: null, suspended_by: null, suspend_reason: null });
  return changed > 0;
}

/** The waiting plan; no pass replaces it until the transaction ends. */
export async function lockWaitingPlan(tx: Knex, bindingId: string): Promise<WaitingPlan | null> {
  const row: { plan: WaitingPlan | null } | undefined = await tx('git_bindings')
    .where({ id: bindingId })
    .forUpdate()
    .first({ plan: 'waiting_plan' });
  return row?.plan ?? null;
}

/** Stores why the forge refused the last request, or null after a success. Returns false when that is stored already. */
export async function setForgeError(db: Knex, bindingId: string, message: string | null): Promise<boolean> {
  const rows = db('git_bindings').where({ id: bindingId });
  const changed =
    message === null
      ? await rows.whereNotNull('forge_error').update({ forge_error: null })
      : await rows.whereRaw("forge_error->>'message' IS DISTINCT FROM ?", [message]).update({
          forge_error: db.raw("jsonb_build_object('message', ?::text, 'at', now())", [message]),
        });
  return changed > 0;
}
