/**
 * Who may look at which events: those of one's teams, of what git does in their environments, and one's own that are no
 * team's, such as a sign-in. A super admin looks at all.
 */
import type { AuditFilter } from '../../../schemas/api/audit.ts';
import { environmentScope, teamScope } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { forbidden } from '../../platform/operation/errors.ts';
import { ownScope, type Scope } from '../../platform/operation/operation.ts';
import type { AuditViewer } from './queries.ts';

export function viewerOf({ actor }: Context): AuditViewer {
  if (actor.type !== 'user') throw forbidden('Only a signed-in user looks at the audit log this way');
  return { userId: actor.userId, teamIds: actor.isSuperAdmin ? null : [...actor.roles.keys()] };
}

/** A team or environment that is named must be the caller's. */
export async function filterScope(
  ctx: Context,
  { teamId, environmentId }: Pick<AuditFilter, 'teamId' | 'environmentId'>,
): Promise<Scope> {
  const team = teamId === undefined ? ownScope : await teamScope(ctx, teamId);
  return environmentId === undefined ? team : environmentScope(ctx, environmentId);
}
