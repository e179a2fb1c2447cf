/**
 * One repository may contain the environments of several teams. A member of one of the teams may read it. Only an EDITOR of all
 * teams may change a branch, because a change can affect any folder. The rule holds for git over HTTP and for pull requests.
 */
import type { Actor } from '../../platform/operation/context.ts';

/** `teams`: ids of the teams with an environment that is bound to the repository. */
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
