/** Settings of the whole installation: groups, SCIM, the fleet, the audit log. */
import Type, { type Static } from 'typebox';
import { BackupSettingsView } from './backups.ts';
import { Id, Input, Nullable, Role, Text, Timestamp } from './common.ts';
import { OidcView } from './identity/identity-providers.ts';
import { AnomalyConfigView } from './insight/anomalies.ts';

/** Comma-separated names. */
const GroupNames = Text(4_000);
const ClaimName = Text(200);

export const TeamMapping = Type.Object(
  { group: Type.String({ minLength: 1, maxLength: 256 }), teamId: Id, role: Role },
  { additionalProperties: false },
);
export type TeamMapping = Static<typeof TeamMapping>;
const TeamPattern = Type.Object(
  { pattern: Type.String({ minLength: 1, maxLength: 256 }), role: Role },
  { additionalProperties: false },
);

export const UpdateOidcRoleMapping = Input({
  defaultRole: Role,
  groupsClaim: Type.Optional(ClaimName),
  adminGroups: Type.Optional(GroupNames),
  editorGroups: Type.Optional(GroupNames),
});
export const UpdateOidcTeamMappings = Input({
  mappings: Type.Array(TeamMapping, { maxItems: 1_000 }),
  /** Groups whose path names the team: `/(?<team>.+)/editors`. Absent keeps. */
  patterns: Type.Optional(Type.Array(TeamPattern, { maxItems: 50 })),
  /** Absent: none. */
  defaultTeamId: Type.Optional(Id),
  defaultRole: Role,
  groupSyncEnabled: Type.Boolean(),
  groupsScope: Type.Optional(ClaimName),
  groupsClaim: Type.Optional(ClaimName),
});
export type UpdateOidcTeamMappings = Static<typeof UpdateOidcTeamMappings>;
/** How many memberships followed at once. */
export const MembershipsFollowed = Type.Object({
  added: Type.Integer(),
  changed: Type.Integer(),
  removed: Type.Integer(),
  /** What is saved, and may not be meant. */
  warnings: Type.Array(Type.String()),
});

export const UpdateScim = Input({ enabled: Type.Boolean() });
/** Shown once; the one before ends at once. */
export const ScimToken = Type.Object({ token: Type.String() });

export const FleetLimits = {
  pollIntervalMs: { minimum: 1_000, maximum: 300_000 },
  unhealthyThreshold: { minimum: 2, maximum: 100 },
  retentionDays: { minimum: 1, maximum: 3_650 },
  pipelineVersionsRetained: { minimum: 10, maximum: 10_000 },
  logsMibPerNodeHour: { minimum: 1, maximum: 102_400 },
  logsMibTotal: { minimum: 100, maximum: 104_857_600 },
} as const;
export const UpdateFleet = Input({
  pollIntervalMs: Type.Integer(FleetLimits.pollIntervalMs),
  unhealthyThreshold: Type.Integer(FleetLimits.unhealthyThreshold),
  metricsRetentionDays: Type.Optional(Type.Integer(FleetLimits.retentionDays)),
  logsRetentionDays: Type.Optional(Type.Integer(FleetLimits.retentionDays)),
  /** The newest versions that each pipeline keeps at least. */
  pipelineVersionsRetained: Type.Optional(Type.Integer(FleetLimits.pipelineVersionsRetained)),
  /** Log lines of one node that are stored in an hour. */
  logsMibPerNodeHour: Type.Optional(Type.Integer(FleetLimits.logsMibPerNodeHour)),
  /** All stored log lines together: above, the oldest day is dropped. */
  logsMibTotal: Type.Optional(Type.Integer(FleetLimits.logsMibTotal)),
});
export const FleetView = Type.Object({
  pollIntervalMs: Type.Integer(),
  unhealthyThreshold: Type.Integer(),
  metricsRetentionDays: Type.Integer(),
  logsRetentionDays: Type.Integer(),
  pipelineVersionsRetained: Type.Integer(),
  logsMibPerNodeHour: Type.Integer(),
  logsMibTotal: Type.Integer(),
});
export type FleetView = Static<typeof FleetView>;

/** Null keeps the audit log for ever. */
export const AuditRetention = Input({
  retentionDays: Nullable(Type.Integer({ minimum: 30, maximum: 36_500 })),
});
export type AuditRetention = Static<typeof AuditRetention>;

export const AccessLimits = {
  confirmationDays: { minimum: 1, maximum: 365 },
  tokenMaxDays: { minimum: 1, maximum: 3_650 },
} as const;
/** Absent keeps. */
export const UpdateAccess = Input({
  /** Days after which an account rests that its identity provider has not confirmed. */
  confirmationDays: Type.Optional(Type.Integer(AccessLimits.confirmationDays)),
  /** Asks providers that offer `offline_access` for it, to confirm people every hour without them. */
  requestOfflineAccess: Type.Optional(Type.Boolean()),
  /** The longest life of a personal token. A shorter one than before shortens those that there are. */
  tokenMaxDays: Type.Optional(Type.Integer(AccessLimits.tokenMaxDays)),
  /** While there is a provider, passwords open the accounts of `breakGlassUserIds` alone. */
  onlyByProvider: Type.Optional(Type.Boolean()),
  /** Super admins with a password, for the day on which no provider answers. */
  breakGlassUserIds: Type.Optional(Type.Array(Id, { maxItems: 20 })),
});
export type UpdateAccess = Static<typeof UpdateAccess>;
export const AccessView = Type.Object({
  confirmationDays: Type.Integer(),
  requestOfflineAccess: Type.Boolean(),
  tokenMaxDays: Type.Integer(),
  onlyByProvider: Type.Boolean(),
});
export type AccessView = Static<typeof AccessView>;

export const GroupsView = Type.Object({
  mappings: Type.Array(TeamMapping),
  patterns: Type.Array(TeamPattern),
  /** Teams that nobody is led to by a pattern, since several groups would lead there. */
  ambiguities: Type.Array(Type.String()),
  defaultTeamId: Nullable(Id),
  defaultRole: Role,
  groupSyncEnabled: Type.Boolean(),
  groupsScope: Nullable(Type.String()),
  groupsClaim: Nullable(Type.String()),
  adminGroups: Nullable(Type.String()),
  editorGroups: Nullable(Type.String()),
});
export type GroupsView = Static<typeof GroupsView>;
/** A request of SCIM that was refused. */
export const ScimRefusal = Type.Object({
  at: Timestamp,
  method: Type.String(),
  /** Below the base URL, without the query. */
  path: Type.String(),
  status: Type.Integer(),
  /** RFC 7644, table 9; null where it has no word for it. */
  scimType: Nullable(Type.String()),
  detail: Type.String(),
});
export type ScimRefusal = Static<typeof ScimRefusal>;
/** The newest first, 100 at most. */
export const ScimRefusals = Type.Array(ScimRefusal);

export const ScimView = Type.Object({
  enabled: Type.Boolean(),
  /** What a provider is given as its base URL, to the letter. */
  baseUrl: Type.String(),
  /** Null where there is no token. */
  tokenCreatedAt: Nullable(Timestamp),
  lastUsedAt: Nullable(Timestamp),
});
export type ScimView = Static<typeof ScimView>;

/** Secrets are masked. */
export const SettingsView = Type.Object({
  /** In the order of the sign-in page; none while nobody signs in by OIDC. */
  oidcProviders: Type.Array(OidcView),
  /** HEADGATE_OIDC_FILE: what it sets is changed there. Null where there is none. */
  oidcFile: Nullable(
    Type.Object({
      sets: Type.Array(Type.Enum(['providers', 'groups', 'access'], { type: 'string' })),
      /** Why its newest state was not taken over; that of before counts on. */
      error: Nullable(Type.String()),
    }),
  ),
  /** The redirect address to register at the provider. */
  oidcRedirectUri: Type.String(),
  groups: GroupsView,
  scim: ScimView,
  /** How long accounts of identity providers and personal tokens last. */
  access: AccessView,
  /** Accounts that a password opens where providers are to be used alone. */
  breakGlass: Type.Array(Type.Object({ id: Id, name: Type.String(), email: Type.String() })),
  fleet: FleetView,
  anomalies: AnomalyConfigView,
  audit: Type.Object({
    retentionDays: Nullable(Type.Integer()),
    /** False until somebody has set it: then it is kept for ever, and the first set-up asks. */
    isChosen: Type.Boolean(),
  }),
  /** Where backups are stored, and when they are made. */
  backups: BackupSettingsView,
});
export type SettingsView = Static<typeof SettingsView>;
