/** Super admins map groups of identity providers to teams. Memberships of all users follow in the same transaction. */
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
  lockExistingTeams,
  mappingsDiff,
  nameWarnings,
  patchText,
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

/** Writes the settings, reconciles all memberships, and writes the audit rows of both. */
async function applySettings(
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
  summary: 'Set which groups lead to which teams, and the default team; memberships follow at once',
  role: 'SUPER_ADMIN',
  audit: 'settings.teamMappingsUpdated',
  input: UpdateOidcTeamMappings,
  output: MembershipsFollowed,
  scope: () => ownScope,
  // In a transaction (HEADGATE_OIDC_FILE) the providers are not asked, because nobody would read the warnings.
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
    await lockExistingTeams(ctx, [
      ...mappings.map(({ teamId }) => teamId),
      ...(defaultTeamId === null ? [] : [defaultTeamId]),
    ]);
    const mappingsBefore: TeamMapping[] = await readTeamMappings(ctx.db);
    const names = await lockExistingTeams(
      ctx,
      [...mappingsBefore, ...mappings].map(({ teamId }) => teamId),
    );
    await replaceTeamMappings(ctx.db, mappings);
    if (patterns) await replaceTeamPatterns(ctx.db, patterns);
    const after = {
      ...before,
      ...{ defaultTeamId, defaultRole: input.defaultRole, groupSyncEnabled: input.groupSyncEnabled },
      groupsScope: patchText(input.groupsScope, before.groupsScope),
      groupsClaim: patchText(input.groupsClaim, before.groupsClaim),
    };
    return applySettings(ctx, before, after, {
      mappings: {
        ...mappingsDiff(mappingsBefore, mappings, names),
        ...(patterns ? patternsDiff(patternsBefore, patterns) : {}),
      },
      warnings: [...nameWarnings(mappings, groups), ...scopeWarnings],
    });
  },
});

export const updateOidcRoleMapping = mutation({
  name: 'settings.updateOidcRoleMapping',
  summary: 'Set the roles in the default team by groups; memberships follow at once',
  role: 'SUPER_ADMIN',
  audit: 'settings.roleMappingUpdated',
  input: UpdateOidcRoleMapping,
  output: MembershipsFollowed,
  scope: () => ownScope,
  async run(ctx, input) {
    await assertNotSetByFile(ctx, 'groups');
    await lockRules(ctx.db);
    const before = await readGroupSettings(ctx.db);
    return applySettings(ctx, before, {
      ...before,
      defaultRole: input.defaultRole,
      groupsClaim: patchText(input.groupsClaim, before.groupsClaim),
      adminGroups: patchText(input.adminGroups, before.adminGroups),
      editorGroups: patchText(input.editorGroups, before.editorGroups),
    });
  },
});
