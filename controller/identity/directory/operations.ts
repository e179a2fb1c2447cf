/** What groups of an identity provider mean for teams: said by a super admin, and followed by everybody at once. */
import type { TeamMapping } from '../../../schemas/api/settings.ts';
import {
  MembershipsFollowed,
  UpdateOidcRoleMapping,
  UpdateOidcTeamMappings,
} from '../../../schemas/api/settings.ts';
import type { MutationContext } from '../../platform/operation/context.ts';
import { mutation, ownScope } from '../../platform/operation/operation.ts';
import { assertNotSetByFile } from '../access/index.ts';
import {
  assertUnambiguousNames,
  checkMappings,
  checkPatterns,
  knownTeams,
  mappingsDiff,
  nameWarnings,
  patchedText,
  patternsDiff,
  settingsDiff,
} from './mapping-rules.ts';
import { membershipEntries } from './membership-audit.ts';
import { countsOf, reconcileMemberships } from './reconcile-memberships.ts';
import {
  type GroupSettings,
  listGroupMembers,
  listGroupNames,
  readGroupSettings,
  readTeamMappings,
  readTeamPatterns,
  replaceTeamMappings,
  replaceTeamPatterns,
  writeGroupSettings,
} from './store.ts';
import { lockRules } from './teams-store.ts';

/** Writes what was said, brings everybody in line with it, and leaves the audit rows of both. */
async function settle(
  ctx: MutationContext,
  before: GroupSettings,
  after: GroupSettings,
  {
    mappings = {},
    warnings = [],
  }: { mappings?: Record<string, [unknown, unknown]>; warnings?: string[] } = {},
) {
  await writeGroupSettings(ctx.db, after);
  const changes = await reconcileMemberships(ctx, await listGroupMembers(ctx.db));
  const memberships = countsOf(changes);
  ctx.audit({
    entityType: 'Settings',
    entityId: 'groups',
    diff: { ...settingsDiff(before, after), ...mappings },
    metadata: { memberships },
  });
  for (const entry of await membershipEntries(ctx.db, changes)) ctx.audit(entry);
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['settings'] });
  return { ...memberships, warnings };
}

export const updateOidcTeamMappings = mutation({
  name: 'settings.updateOidcTeamMappings',
  summary: 'Say which groups lead to which teams, and what the default team is; memberships follow at once',
  role: 'SUPER_ADMIN',
  audit: 'settings.teamMappingsUpdated',
  input: UpdateOidcTeamMappings,
  output: MembershipsFollowed,
  scope: () => ownScope,
  // Run inside of somebody's transaction (the file that sign-in stands in), nobody is asked, and nobody reads the warnings.
  prepare: (ctx, { groupsScope, groupSyncEnabled }) =>
    groupSyncEnabled && groupsScope?.trim() && !ctx.db.isTransaction
      ? ctx.services.identityProvider.scopeWarnings(ctx.db, groupsScope.trim())
      : Promise.resolve([]),
  async run(ctx, input, scopeWarnings) {
    const mappings = checkMappings(input.mappings);
    await assertNotSetByFile(ctx, 'groups');
    await lockRules(ctx.db);
    const groups = await listGroupNames(ctx.db);
    assertUnambiguousNames(mappings, groups);
    const patterns = input.patterns && checkPatterns(input.patterns, groups);
    const patternsBefore = await readTeamPatterns(ctx.db);
    const before = await readGroupSettings(ctx.db);
    const defaultTeamId = input.defaultTeamId ?? null;
    await knownTeams(ctx, [
      ...mappings.map(({ teamId }) => teamId),
      ...(defaultTeamId === null ? [] : [defaultTeamId]),
    ]);
    const mapped: TeamMapping[] = await readTeamMappings(ctx.db);
    const names = await knownTeams(
      ctx,
      [...mapped, ...mappings].map(({ teamId }) => teamId),
    );
    await replaceTeamMappings(ctx.db, mappings);
    if (patterns) await replaceTeamPatterns(ctx.db, patterns);
    const after = {
      ...before,
      ...{ defaultTeamId, defaultRole: input.defaultRole, groupSyncEnabled: input.groupSyncEnabled },
      groupsScope: patchedText(input.groupsScope, before.groupsScope),
      groupsClaim: patchedText(input.groupsClaim, before.groupsClaim),
    };
    return settle(ctx, before, after, {
      mappings: {
        ...mappingsDiff(mapped, mappings, names),
        ...(patterns ? patternsDiff(patternsBefore, patterns) : {}),
      },
      warnings: [...nameWarnings(mappings, groups), ...scopeWarnings],
    });
  },
});

export const updateOidcRoleMapping = mutation({
  name: 'settings.updateOidcRoleMapping',
  summary: 'Say which role people get in the default team, by their groups; memberships follow at once',
  role: 'SUPER_ADMIN',
  audit: 'settings.roleMappingUpdated',
  input: UpdateOidcRoleMapping,
  output: MembershipsFollowed,
  scope: () => ownScope,
  async run(ctx, input) {
    await assertNotSetByFile(ctx, 'groups');
    await lockRules(ctx.db);
    const before = await readGroupSettings(ctx.db);
    return settle(ctx, before, {
      ...before,
      defaultRole: input.defaultRole,
      groupsClaim: patchedText(input.groupsClaim, before.groupsClaim),
      adminGroups: patchedText(input.adminGroups, before.adminGroups),
      editorGroups: patchedText(input.editorGroups, before.editorGroups),
    });
  },
});
