/** Who may do what: required actions, roles in teams, permissions of service accounts. */
import type { Role } from '../../../schemas/api/common.ts';
import type { Actor, RequiredAction } from './context.ts';
import { DomainError, forbidden } from './errors.ts';
import type { Needs, Scope } from './operation.ts';

const REQUIRED_ACTION_MESSAGES: Record<RequiredAction, string> = {
  CHANGE_PASSWORD: 'Change your password first: the one that you have was given to you',
  SET_UP_TWO_FACTOR: 'Set up two-factor sign-in first: a team of yours requires it',
  PROVE_TWO_FACTOR:
    'Give the code of your authenticator first, by user.proveTwoFactor: a team of yours requires a second factor',
};

/**
 * Transports that are no operations call it themselves.
 * @throws FORBIDDEN with `owes`, for a user who has to act first
 */
export function assertNoRequiredAction(actor: Actor, except: readonly RequiredAction[] = []): void {
  if (actor.type !== 'user' || actor.requiredAction === null || except.includes(actor.requiredAction)) return;
  throw new DomainError('FORBIDDEN', REQUIRED_ACTION_MESSAGES[actor.requiredAction], {
    owes: actor.requiredAction,
  });
}

const LEVEL: Record<Role, number> = { VIEWER: 0, EDITOR: 1, ADMIN: 2 };

/** Git and the system act with every right inside the environment that their scope names. */
export function allows(
  actor: Actor,
  scope: Scope,
  { role: needed, permission, provisioning }: Needs,
): boolean {
  switch (actor.type) {
    case 'anonymous':
      return false;
    case 'system':
      return true;
    case 'scim':
      return provisioning === true;
    case 'git':
      return needed !== 'SUPER_ADMIN' && scope.environmentId === actor.environmentId;
    case 'service_account':
      return (
        needed !== 'SUPER_ADMIN' &&
        permission !== undefined &&
        actor.permissions.has(permission) &&
        scope.environmentId === actor.environmentId
      );
    case 'user': {
      if (actor.isSuperAdmin) return true;
      if (needed === 'SUPER_ADMIN') return false;
      if (scope.teamId === null) return needed === 'VIEWER';
      const role = actor.roles.get(scope.teamId);
      return role !== undefined && LEVEL[role] >= LEVEL[needed];
    }
  }
}

export function permissionError(actor: Actor, op: Needs & { name: string }): DomainError {
  if (actor.type === 'scim') return forbidden(`${op.name} is not for SCIM`);
  if (actor.type !== 'service_account') return forbidden(`This needs the role ${op.role} in the team`);
  if (op.permission === undefined)
    return forbidden(`${op.name} is not for service accounts; sign in as a user`);
  return forbidden(
    actor.permissions.has(op.permission)
      ? "This is outside of the service account's environment"
      : `This needs the permission ${op.permission}, which the service account "${actor.name}" was not given`,
  );
}

/** The key under which heavy work is counted; null for reconcilers and the system, which have limits of their own. */
export function callerKey(actor: Actor): string | null {
  if (actor.type === 'user') return `user ${actor.userId}`;
  if (actor.type === 'service_account') return `service account ${actor.id}`;
  return actor.type === 'scim' ? 'scim' : null;
}
