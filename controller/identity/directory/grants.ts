/**
 * Which teams somebody's groups lead to: the role of the mapping, of several the highest; where none matches, and somebody
 * signs in at an identity provider, the default team with the default role. Pure: the order of what happened plays no part.
 */
import type { Role } from '../../../schemas/api/common.ts';
import type { TeamMapping } from '../../../schemas/api/settings.ts';
import type { PatternMatch } from './team-patterns.ts';

export interface GroupRules {
  mappings: readonly TeamMapping[];
  /** Groups whose path names the team; `ambiguous` are teams, in lower case, that several groups would lead to. */
  patterns: readonly { match: PatternMatch; role: Role; ambiguous: ReadonlySet<string> }[];
  /** In lower case. */
  teamsByName: ReadonlyMap<string, string>;
  /** For people who sign in by OIDC and whom no mapping matches. */
  defaultTeamId: string | null;
  /** Null is VIEWER. */
  defaultRole: Role | null;
  /** Groups whose people are ADMIN of the default team. */
  adminGroups: readonly string[];
  editorGroups: readonly string[];
}

export interface DirectoryUser {
  /** Names, as they were given: they are compared exactly. */
  groups: readonly string[];
  signsInByOidc: boolean;
}

const LEVEL: Record<Role, number> = { VIEWER: 0, EDITOR: 1, ADMIN: 2 };

/** Team id to role. */
export function grantsOf(person: DirectoryUser, rules: GroupRules): Map<string, Role> {
  const groups = new Set(person.groups);
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
  if (granted.size === 0 && person.signsInByOidc && rules.defaultTeamId !== null)
    granted.set(rules.defaultTeamId, defaultRoleOf(groups, rules));
  return granted;
}

function defaultRoleOf(groups: ReadonlySet<string>, rules: GroupRules): Role {
  if (rules.adminGroups.some((group) => groups.has(group))) return 'ADMIN';
  if (rules.editorGroups.some((group) => groups.has(group))) return 'EDITOR';
  return rules.defaultRole ?? 'VIEWER';
}

/** A membership that group sync made, before and after. Null is none. */
export interface MembershipChange {
  userId: string;
  teamId: string;
  before: Role | null;
  after: Role | null;
}

/** `synced` are the memberships that group sync has made; teams in `manual` are left as somebody set them. */
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
