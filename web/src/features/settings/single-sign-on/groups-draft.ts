import type { Role } from '../../../../../schemas/api/common.ts';
import type { GroupsView, TeamMapping, UpdateOidcTeamMappings } from '../../../../../schemas/api/settings.ts';

/** With a key that stays while it is typed and others go. */
export interface MappingRow extends TeamMapping {
  key: number;
}

export interface GroupsDraft {
  sync: boolean;
  scope: string;
  claim: string;
  rows: readonly MappingRow[];
  /** One a line: the role, a blank, the pattern. */
  patterns: string;
  /** Empty is none. */
  defaultTeamId: string;
  defaultRole: Role;
}

export const groupsDraft = (groups: GroupsView): GroupsDraft => ({
  sync: groups.groupSyncEnabled,
  scope: groups.groupsScope ?? '',
  claim: groups.groupsClaim ?? '',
  rows: groups.mappings.map((mapping, key) => ({ ...mapping, key })),
  patterns: groups.patterns.map(({ pattern, role }) => `${role} ${pattern}`).join('\n'),
  defaultTeamId: groups.defaultTeamId ?? '',
  defaultRole: groups.defaultRole,
});

const ROLE: Record<string, Role> = { VIEWER: 'VIEWER', EDITOR: 'EDITOR', ADMIN: 'ADMIN' };

const patternsOf = (text: string): { role: Role | null; pattern: string }[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const [word = '', pattern = ''] = line.split(/\s+(.*)/s);
      return { role: ROLE[word.toUpperCase()] ?? null, pattern: pattern.trim() };
    });

/** Empty where they can be saved; what else is wrong the server says. */
export const problemOfPatterns = (text: string): string =>
  patternsOf(text).every(({ role, pattern }) => role !== null && pattern !== '')
    ? ''
    : 'Write the role first: EDITOR /(?<team>.+)/editors';

export const groupsInput = (draft: GroupsDraft): UpdateOidcTeamMappings => ({
  mappings: draft.rows.map(({ group, teamId, role }) => ({ group: group.trim(), teamId, role })),
  patterns: patternsOf(draft.patterns).map(({ role, pattern }) => ({ role: role ?? 'VIEWER', pattern })),
  ...(draft.defaultTeamId ? { defaultTeamId: draft.defaultTeamId } : {}),
  defaultRole: draft.defaultRole,
  groupSyncEnabled: draft.sync,
  groupsScope: draft.scope.trim(),
  groupsClaim: draft.claim.trim(),
});

export const sameGroups = (draft: GroupsDraft, groups: GroupsView): boolean =>
  JSON.stringify(groupsInput(draft)) === JSON.stringify(groupsInput(groupsDraft(groups)));

/** Of one row, in words for beside it; empty where all is well. */
export function problemOfRow(row: MappingRow, rows: readonly MappingRow[]): string {
  if (!row.group.trim()) return 'Give the name of the group.';
  if (!row.teamId) return 'Choose a team.';
  const twice = rows.find(
    (other) => other.key < row.key && other.group.trim() === row.group.trim() && other.teamId === row.teamId,
  );
  return twice ? 'This group leads to this team already.' : '';
}

export const nextKey = (rows: readonly MappingRow[]): number =>
  Math.max(-1, ...rows.map(({ key }) => key)) + 1;
