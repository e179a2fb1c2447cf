/**
 * Which teams the groups of a user lead to, and with which role: the highest role of all matching mappings. A user without a
 * match who signs in at an identity provider gets the default role in the default team. Pure, and independent of history.
 */
import type { Role } from '../../../schemas/api/common.ts';
import type { TeamMapping } from '../../../schemas/api/settings.ts';
import type { PatternMatch } from './team-patterns.ts';

export interface GroupRules {
  mappings: readonly TeamMapping[];
  /** Patterns for groups whose path contains the team's name; `ambiguous` are the teams, in lower case, that several groups match. */
  patterns: readonly { match: PatternMatch; role: Role; ambiguous: ReadonlySet<string> }[];
  /** Team ids by name in lower case. */
  teamsByName: ReadonlyMap<string, string>;
  /** For users who sign in by OIDC and match no mapping. */
  defaultTeamId: string | null;
  /** Null means VIEWER. */
  defaultRole: Role | null;
  /** Groups whose members are ADMIN of the default team. */
  adminGroups: readonly string[];
  editorGroups: readonly string[];
}

export interface DirectoryUser {
  /** Names as the provider gives them; they are compared exactly. */
  groups: readonly string[];
  signsInByOidc: boolean;
}

const LEVEL: Record<Role, number> = { VIEWER: 0, EDITOR: 1, ADMIN: 2 };

/** Roles by team id. */
export function grantsOf(user: DirectoryUser, rules: GroupRules): Map<string, Role> {
  const groups = new Set(user.groups);
  const granted = new Map<string, Role>();
  const grant = (teamId: string, role: Role): void => {
    const before = granted.get(teamId);
    if (before === undefined || LEVEL[role] > LEVEL[before]) granted.set(teamId, role);
  };
  for (const { group, teamId, role } of rules.mappings) if (groups.has(group)) grant(teamId, role);
  for (const { match, role, ambiguous } of rules.patterns)
    for (const group of groups) {
      const name = match(group)?.toLowerCase();
      const teamId = name === undefined || ambiguous.has(name) ? undefined : rules.teamsByName.get(name);
      if (teamId !== undefined) grant(teamId, role);
    }
  if (granted.size === 0 && user.signsInByOidc && rules.defaultTeamId !== null)
    granted.set(rules.defaultTeamId, defaultRoleOf(groups, rules));
  return granted;
}

function defaultRoleOf(groups: ReadonlySet<string>, rules: GroupRules): Role {
  if (rules.adminGroups.some((group) => groups.has(group))) return 'ADMIN';
  if (rules.editorGroups.some((group) => groups.has(group))) return 'EDITOR';
  return rules.defaultRole ?? 'VIEWER';
}

/** A membership of group sync before and after; null means no membership. */
export interface MembershipChange {
  userId: string;
  teamId: string;
  before: Role | null;
  after: Role | null;
}

/** `synced` are the memberships of group sync; teams in `manual` stay unchanged. */
export function changesOf(
  userId: string,
  granted: ReadonlyMap<string, Role>,
  synced: ReadonlyMap<string, Role>,
  manual: ReadonlySet<string>,
): MembershipChange[] {
  return [...new Set([...granted.keys(), ...synced.keys()])]
    .filter((teamId) => !manual.has(teamId))
    .map((teamId) => ({
      ...{ userId, teamId },
      before: synced.get(teamId) ?? null,
      after: granted.get(teamId) ?? null,
    }))
    .filter(({ before, after }) => before !== after);
}
