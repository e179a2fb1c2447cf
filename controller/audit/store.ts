/** Audit rows, written in the transaction of the mutation that they tell of. */
import type { AuditEntry } from '../platform/audit-entry.ts';
import type { Context } from '../platform/context.ts';
import { newId } from '../platform/ids.ts';
import type { Scope } from '../platform/operation.ts';

/** One row an entry; a mutation that says nothing of itself still leaves one. */
export async function writeAudit(
  ctx: Context,
  scope: Scope,
  entries: readonly AuditEntry[],
  action: string,
): Promise<void> {
  const { actor } = ctx;
  const told =
    entries.length > 0 ? entries : [{ entityType: action.split('.')[0] ?? action, entityId: null }];
  const rows = told.map((entry: AuditEntry) => ({
    id: newId(),
    actor_type: actor.type === 'anonymous' ? 'system' : actor.type,
    user_id: actor.type === 'user' ? actor.userId : null,
    user_email: actor.type === 'user' ? actor.email : actor.type === 'git' ? actor.author : null,
    action: entry.action ?? action,
    entity_type: entry.entityType,
    entity_id: entry.entityId,
    diff: entry.diff ? JSON.stringify(entry.diff) : null,
    metadata: entry.metadata ? JSON.stringify(entry.metadata) : null,
    ip_address: ctx.ipAddress,
    team_id: entry.teamId ?? scope.teamId,
    environment_id: entry.environmentId ?? scope.environmentId ?? null,
    commit_sha: entry.commitSha ?? (actor.type === 'git' ? actor.commit : null),
  }));
  await ctx.db('audit_log').insert(rows);
}
