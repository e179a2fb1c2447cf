/**
 * One repository may hold the environments of several teams: whoever may enter one of them may read it; only who is EDITOR in
 * all of them may change a branch, since that may touch any folder. The same rule for git's door and for pull requests.
 */
import type { Actor } from '../../platform/operation/context.ts';

/** `teams`: ids of those with an environment bound to the repository. */
export function mayRead(actor: Actor, teams: readonly string[]): boolean {
  if (actor.type !== 'user') return actor.type === 'system';
  return actor.isSuperAdmin || teams.some((team) => actor.roles.has(team));
}

export function mayPush(actor: Actor, teams: readonly string[]): boolean {
  if (actor.type !== 'user') return actor.type === 'system';
  if (actor.isSuperAdmin) return true;
  const roles = teams.map((team) => actor.roles.get(team));
  return roles.length > 0 && roles.every((role) => role === 'EDITOR' || role === 'ADMIN');
}
