/** Audit rows, written in the transaction of their mutation. The chainer (controller/insight/audit) numbers them later. */
import type { AuditEntry } from './audit-entry.ts';
import type { Actor, Context, Services } from './context.ts';
import { newId } from './ids.ts';
import type { Scope } from './operation.ts';

/** The run loop that numbers the rows. */
export const AUDIT_LOOP = 'audit';

/** One row an entry; a mutation without entries leaves one row too. */
export async function writeAudit(
  ctx: Pick<Context, 'db' | 'actor' | 'ipAddress' | 'via'> & { services: Pick<Services, 'bus'> },
  scope: Scope,
  entries: readonly AuditEntry[],
  action: string,
): Promise<void> {
  const { actor } = ctx;
  const described =
    entries.length > 0 ? entries : [{ entityType: action.split('.')[0] ?? action, entityId: null }];
  const rows = described.map((entry: AuditEntry) => ({
    id: newId(),
    actor_type: actor.type === 'anonymous' ? 'system' : actor.type,
    ...who(actor),
    action: entry.action ?? action,
    entity_type: entry.entityType,
    entity_id: entry.entityId,
    diff: entry.diff ? JSON.stringify(entry.diff) : null,
    metadata: entry.metadata || ctx.via ? JSON.stringify({ ...entry.metadata, ...viaOf(ctx) }) : null,
    ip_address: ctx.ipAddress,
    team_id: entry.teamId ?? scope.teamId,
    environment_id: entry.environmentId ?? scope.environmentId ?? null,
    commit_sha: entry.commitSha ?? (actor.type === 'git' ? actor.commit : null),
  }));
  await ctx.db('audit_log').insert(rows);
  await ctx.services.bus.publish(ctx.db, { type: 'wake', loop: AUDIT_LOOP, key: '', trigger: 'written' });
}

const viaOf = ({ via }: Pick<Context, 'via'>) => (via ? { via } : {});

/** `user_id` is a service account's own id where one acted: names are free again after a revocation. */
function who(actor: Actor): { user_id: string | null; user_email: string | null } {
  switch (actor.type) {
    case 'user':
      return { user_id: actor.userId, user_email: actor.email };
    case 'service_account':
      return { user_id: actor.id, user_email: actor.name };
    case 'git':
      return { user_id: null, user_email: actor.author };
    case 'anonymous':
    case 'scim':
    case 'system':
      return { user_id: null, user_email: null };
  }
}
