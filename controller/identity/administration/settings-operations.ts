/** The settings of the whole installation, collected from their domains. */

import { NoInput } from '../../../schemas/api/common.ts';
import type { OidcView } from '../../../schemas/api/identity/identity-providers.ts';
import {
  AccessView,
  FleetView,
  type GroupsView,
  SettingsView,
  UpdateAccess,
  UpdateFleet,
} from '../../../schemas/api/settings.ts';
import { readBackupsView } from '../../backups/index.ts';
import { changeFleetSettings, readFleetSettings } from '../../fleet/settings/index.ts';
import { readAnomalyConfig } from '../../insight/anomalies/index.ts';
import { readAuditSetting } from '../../insight/audit/index.ts';
import { diffOf } from '../../platform/operation/audit-entry.ts';
import type { Context } from '../../platform/operation/context.ts';
import { mutation, ownScope, query } from '../../platform/operation/operation.ts';
import {
  assertNotSetByFile,
  changeAccessPolicy,
  listBreakGlass,
  readAccessPolicy,
  readOidcFileState,
  shortenPersonalTokens,
} from '../access/index.ts';
import {
  readAmbiguities,
  readGroupSettings,
  readTeamMappings,
  readTeamPatterns,
} from '../directory/index.ts';
import { listOidcProviders, readReports } from '../oidc/index.ts';
import { readScimSettings, scimBaseUrl } from '../scim/index.ts';
import { changeBreakGlass, enforceProviderOnly } from './provider-only-sign-in.ts';

const MASK = '********';

export const get = query({
  name: 'settings.get',
  summary: 'Settings of the whole installation, with secrets masked',
  role: 'SUPER_ADMIN',
  input: NoInput,
  output: SettingsView,
  scope: () => ownScope,
  async run(ctx) {
    const { baseUrl } = ctx.services;
    const { enabled, tokenCreatedAt, lastUsedAt } = await readScimSettings(ctx.db);
    return {
      oidcProviders: await providersView(ctx),
      oidcFile: await oidcFileView(ctx),
      oidcRedirectUri: `${baseUrl}/api/auth/oidc/callback`,
      groups: await groupsView(ctx),
      scim: { enabled, baseUrl: scimBaseUrl(baseUrl), tokenCreatedAt, lastUsedAt },
      access: await readAccessPolicy(ctx.db),
      breakGlass: await listBreakGlass(ctx.db),
      fleet: await readFleetSettings(ctx.db),
      anomalies: await readAnomalyConfig(ctx.db),
      audit: await readAuditSetting(ctx.db),
      backups: await readBackupsView(ctx),
    };
  },
});

async function providersView({ db }: Context): Promise<OidcView[]> {
  const reports = await readReports(db);
  return (await listOidcProviders(db)).map(({ sealedClientSecret, ...rest }) => ({
    ...rest,
    clientSecret: sealedClientSecret === null ? null : MASK,
    lastFailure: reports.get(rest.id)?.failure ?? null,
    lastWarning: reports.get(rest.id)?.warning ?? null,
  }));
}

async function oidcFileView({ db }: Context): Promise<SettingsView['oidcFile']> {
  const state = await readOidcFileState(db);
  return state && { sets: state.sets, error: state.error };
}

async function groupsView({ db }: Context): Promise<GroupsView> {
  const settings = await readGroupSettings(db);
  return {
    ...settings,
    defaultRole: settings.defaultRole ?? 'VIEWER',
    mappings: await readTeamMappings(db),
    patterns: await readTeamPatterns(db),
    ambiguities: await readAmbiguities(db),
  };
}

export const updateFleet = mutation({
  name: 'settings.updateFleet',
  summary:
    'Set how often nodes poll, when a silent node is unreachable, and how many metrics and logs are kept for how long',
  role: 'SUPER_ADMIN',
  audit: 'settings.fleetUpdated',
  input: UpdateFleet,
  output: FleetView,
  scope: () => ownScope,
  async run(ctx, input) {
    const { before, after } = await changeFleetSettings(ctx.db, input);
    const diff = diffOf(before, after);
    ctx.audit({ entityType: 'Settings', entityId: 'fleet', diff });
    if (Object.keys(diff).length > 0) await ctx.services.bus.publish(ctx.db, { type: 'fleet' });
    await ctx.services.bus.publish(ctx.db, {
      type: 'ui',
      environmentId: null,
      topics: ['settings', 'fleet', 'pipelines'],
    });
    return after;
  },
});

const DAY_MS = 86_400_000;

export const updateAccess = mutation({
  name: 'settings.updateAccess',
  summary: 'Set after how many days unconfirmed accounts rest, and how long personal tokens last',
  role: 'SUPER_ADMIN',
  audit: 'settings.accessUpdated',
  input: UpdateAccess,
  output: AccessView,
  scope: () => ownScope,
  async run(ctx, input) {
    await assertNotSetByFile(ctx, 'access');
    const { breakGlassUserIds, ...policy } = input;
    const { before, after } = await changeAccessPolicy(ctx.db, policy);
    const breakGlass = breakGlassUserIds ? await changeBreakGlass(ctx, breakGlassUserIds) : {};
    const passwordSessionsEnded = await enforceProviderOnly(ctx, before, after);
    const latest = new Date(ctx.clock.now() + after.tokenMaxDays * DAY_MS);
    const tokensShortened = await shortenPersonalTokens(ctx.db, latest);
    ctx.audit({
      ...{ entityType: 'Settings', entityId: 'access', metadata: { tokensShortened, passwordSessionsEnded } },
      diff: { ...breakGlass, ...diffOf(before, after) },
    });
    await ctx.services.bus.publish(ctx.db, {
      ...{ type: 'ui', environmentId: null, topics: ['settings', 'teams'] },
    });
    return after;
  },
});
