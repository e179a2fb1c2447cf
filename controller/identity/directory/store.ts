/** Groups of identity providers, their members, and their mapping to teams. */
import type { Knex } from 'knex';
import type { Role } from '../../../schemas/api/common.ts';
import type { TeamMapping } from '../../../schemas/api/settings.ts';
import { newId } from '../../platform/operation/ids.ts';
import type { DirectoryUser, GroupRules, MembershipChange } from './grants.ts';
import { ambiguitiesOf, parsePattern, type TeamPattern } from './team-patterns.ts';

export interface GroupSettings {
  defaultTeamId: string | null;
  /** Null until it is set; then VIEWER applies. */
  defaultRole: Role | null;
  /** Whether groups of the OIDC claim count. Groups of SCIM always count. */
  groupSyncEnabled: boolean;
  groupsScope: string | null;
  groupsClaim: string | null;
  /** Comma-separated. */
  adminGroups: string | null;
  editorGroups: string | null;
}

const UNSET: GroupSettings = {
  ...{ defaultTeamId: null, defaultRole: null, groupSyncEnabled: false, groupsScope: null },
  ...{ groupsClaim: null, adminGroups: null, editorGroups: null },
};

export async function readGroupSettings(db: Knex): Promise<GroupSettings> {
  const row: GroupSettings | undefined = await db('group_settings').first({
    defaultTeamId: 'default_team_id',
    defaultRole: 'default_role',
    groupSyncEnabled: 'group_sync_enabled',
    groupsScope: 'groups_scope',
    groupsClaim: 'groups_claim',
    adminGroups: 'admin_groups',
    editorGroups: 'editor_groups',
  });
  return row ?? UNSET;
}

export async function writeGroupSettings(tx: Knex, settings: GroupSettings): Promise<void> {
  await tx('group_settings')
    .insert({
      id: 'groups',
      default_team_id: settings.defaultTeamId,
      default_role: settings.defaultRole,
      group_sync_enabled: settings.groupSyncEnabled,
      groups_scope: settings.groupsScope,
      groups_claim: settings.groupsClaim,
      admin_groups: settings.adminGroups,
      editor_groups: settings.editorGroups,
      updated_at: tx.fn.now(),
    })
    .onConflict('id')
    .merge();
}

/** In the order of the super admin. */
export function readTeamMappings(db: Knex): Promise<TeamMapping[]> {
  return db('team_mappings')
    .orderBy('position')
    .select({ group: 'group_name', teamId: 'team_id', role: 'role' });
}

export async function replaceTeamMappings(tx: Knex, mappings: readonly TeamMapping[]): Promise<void> {
  await tx('team_mappings').delete();
  if (mappings.length === 0) return;
  await tx('team_mappings').insert(
    mappings.map(({ group, teamId, role }, position) => ({
      ...{ group_name: group, team_id: teamId, role, position },
    })),
  );
}

/** Splits comma-separated names and trims them. */
export const splitGroups = (text: string | null): string[] =>
  (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);

export async function readTeamPatterns(db: Knex): Promise<TeamPattern[]> {
  return db('team_mapping_patterns').orderBy('position').select('pattern', 'role');
}

export async function replaceTeamPatterns(tx: Knex, patterns: readonly TeamPattern[]): Promise<void> {
  await tx('team_mapping_patterns').delete();
  if (patterns.length === 0) return;
  await tx('team_mapping_patterns').insert(patterns.map((one, position) => ({ ...one, position })));
}

/** Names of groups with at least one member. */
export async function listGroupNames(db: Knex): Promise<string[]> {
  return db('directory_groups as g')
    .whereExists(db('directory_group_members as m').whereRaw('m.group_id = g.id').select(db.raw('1')))
    .distinct()
    .pluck('g.display_name');
}

/** Patterns are rare: without any, groups and teams are not read. */
async function readPatternRules(db: Knex): Promise<Pick<GroupRules, 'patterns' | 'teamsByName'>> {
  const patterns = await readTeamPatterns(db);
  if (patterns.length === 0) return { patterns: [], teamsByName: new Map() };
  const found = ambiguitiesOf(patterns, await listGroupNames(db));
  const teams: { id: string; name: string }[] = await db('teams').select('id', 'name');
  return {
    patterns: patterns.flatMap(({ pattern, role }) => {
      const match = parsePattern(pattern);
      const ambiguous = new Set(found.filter((one) => one.pattern === pattern).map(({ team }) => team));
      return typeof match === 'string' ? [] : [{ match, role, ambiguous }];
    }),
    teamsByName: new Map(teams.map(({ id, name }) => [name.toLowerCase(), id])),
  };
}

export async function readRules(db: Knex): Promise<GroupRules> {
  const settings = await readGroupSettings(db);
  return {
    mappings: await readTeamMappings(db),
    ...(await readPatternRules(db)),
    defaultTeamId: settings.defaultTeamId,
    defaultRole: settings.defaultRole,
    adminGroups: splitGroups(settings.adminGroups),
    editorGroups: splitGroups(settings.editorGroups),
  };
}

/** Locks these users against other reconciliations until the transaction ends. */
export async function lockDirectoryUsers(tx: Knex, userIds: readonly string[]): Promise<void> {
  await tx.raw('SELECT 1 FROM users WHERE id = ANY(?::text[]) ORDER BY id FOR NO KEY UPDATE', [[...userIds]]);
}

/** Existing users by id. Groups of the OIDC claim count while group sync is on. */
export async function readDirectoryUsers(
  db: Knex,
  userIds: readonly string[],
): Promise<Map<string, DirectoryUser>> {
  const { rows } = await db.raw<{ rows: { id: string; groups: string[] | null; oidc: boolean }[] }>(
    `SELECT u.id, EXISTS (SELECT 1 FROM user_identities i WHERE i.user_id = u.id) AS oidc,
       (SELECT array_agg(g.display_name) FROM directory_group_members m JOIN directory_groups g ON g.id = m.group_id
        WHERE m.user_id = u.id AND (g.source = 'scim' OR (SELECT group_sync_enabled FROM group_settings))) AS groups
     FROM users u WHERE u.id = ANY(?::text[])`,
    [[...userIds]],
  );
  return new Map(rows.map(({ id, groups, oidc }) => [id, { groups: groups ?? [], signsInByOidc: oidc }]));
}

export interface Memberships {
  /** Memberships of group sync: user to team to role. */
  synced: Map<string, Map<string, Role>>;
  /** Manual memberships: user to teams. */
  manual: Map<string, Set<string>>;
}

export async function readMemberships(db: Knex, userIds: readonly string[]): Promise<Memberships> {
  const rows: { user_id: string; team_id: string; role: Role; source: 'manual' | 'group' }[] = await db(
    'team_members',
  )
    .whereRaw('user_id = ANY(?::text[])', [[...userIds]])
    .select('user_id', 'team_id', 'role', 'source');
  const found: Memberships = { synced: new Map(), manual: new Map() };
  for (const { user_id, team_id, role, source } of rows) {
    if (source === 'manual') found.manual.set(user_id, (found.manual.get(user_id) ?? new Set()).add(team_id));
    else found.synced.set(user_id, (found.synced.get(user_id) ?? new Map()).set(team_id, role));
  }
  return found;
}

/** A concurrent manual change wins. */
export async function applyMembershipChanges(tx: Knex, changes: readonly MembershipChange[]): Promise<void> {
  const removed = changes.filter(({ after }) => after === null);
  const written = changes.filter(({ after }) => after !== null);
  if (removed.length > 0)
    await tx.raw(
      `DELETE FROM team_members m USING unnest(?::text[], ?::text[]) AS c (user_id, team_id)
       WHERE m.user_id = c.user_id AND m.team_id = c.team_id AND m.source = 'group'`,
      [removed.map(({ userId }) => userId), removed.map(({ teamId }) => teamId)],
    );
  if (written.length > 0)
    await tx.raw(
      `INSERT INTO team_members AS m (user_id, team_id, role, source)
       SELECT c.user_id, c.team_id, c.role, 'group' FROM unnest(?::text[], ?::text[], ?::text[]) AS c (user_id, team_id, role)
       ON CONFLICT (team_id, user_id) DO UPDATE SET role = excluded.role WHERE m.source = 'group'`,
      [
        written.map(({ userId }) => userId),
        written.map(({ teamId }) => teamId),
        written.map(({ after }) => after as Role),
      ],
    );
}

/** All users whose memberships may depend on groups. */
export async function listGroupMembers(db: Knex): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `SELECT user_id AS id FROM directory_group_members UNION SELECT user_id FROM user_identities
     UNION SELECT user_id FROM team_members WHERE source = 'group'`,
  );
  return rows.map(({ id }) => id);
}

/** Replaces the groups that the claim of an issuer gives a user. */
export async function replaceClaimedGroups(
  tx: Knex,
  { userId, issuer }: { userId: string; issuer: string },
  names: readonly string[],
): Promise<void> {
  const wanted = [...new Set(names)];
  await tx.raw(
    `INSERT INTO directory_groups (id, source, display_name)
     SELECT c.id, 'oidc', c.name FROM unnest(?::text[], ?::text[]) AS c (id, name)
     ON CONFLICT (display_name) WHERE source = 'oidc' DO NOTHING`,
    [wanted.map(() => newId()), wanted],
  );
  await tx.raw(
    `DELETE FROM directory_group_members m USING directory_groups g WHERE g.id = m.group_id AND g.source = 'oidc'
     AND m.user_id = ? AND m.issuer = ? AND NOT (g.display_name = ANY(?::text[]))`,
    [userId, issuer, wanted],
  );
  await tx.raw(
    `INSERT INTO directory_group_members (group_id, user_id, issuer)
     SELECT g.id, ?, ? FROM directory_groups g WHERE g.source = 'oidc' AND g.display_name = ANY(?::text[]) ON CONFLICT DO NOTHING`,
    [userId, issuer, wanted],
  );
}

/** Deletes the claimed groups of issuers to which these users are no longer linked. */
export async function clearClaimedGroups(tx: Knex, userIds: readonly string[]): Promise<void> {
  await tx.raw(
    `DELETE FROM directory_group_members m USING directory_groups g WHERE g.id = m.group_id AND g.source = 'oidc'
     AND m.user_id = ANY(?::text[])
     AND NOT EXISTS (SELECT 1 FROM user_identities i WHERE i.user_id = m.user_id AND i.issuer = m.issuer)`,
    [[...userIds]],
  );
}
