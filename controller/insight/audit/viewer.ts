/**
 * Which events a user may see: events of their teams, events of git in their environments, and their own events without a
 * team, such as a sign-in. A super admin sees all.
 */
import type { AuditFilter } from '../../../schemas/api/insight/audit.ts';
import { environmentScope, teamScope } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { forbidden } from '../../platform/operation/errors.ts';
import { ownScope, type Scope } from '../../platform/operation/operation.ts';
import type { AuditViewer } from './queries.ts';

export function viewerOf({ actor }: Context): AuditViewer {
  if (actor.type !== 'user') throw forbidden('Only a signed-in user may read the audit log this way');
  return { userId: actor.userId, teamIds: actor.isSuperAdmin ? null : [...actor.roles.keys()] };
}

/** The caller must have access to the team and the environment that the filter names. */
export async function filterScope(
  ctx: Context,
  { teamId, environmentId }: Pick<AuditFilter, 'teamId' | 'environmentId'>,
): Promise<Scope> {
  const team = teamId === undefined ? ownScope : await teamScope(ctx, teamId);
  return environmentId === undefined ? team : environmentScope(ctx, environmentId);
}
