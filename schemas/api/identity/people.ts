/** Users and teams. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Id, Input, Label, Nullable, Role, Text, Timestamp } from '../common.ts';

/** No white space, no control characters, one @ with something on both sides; the same with and without the flag `u`. */
const PART = '[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+';
export const EMAIL = `^${PART}@${PART}$`;

export const SignInInput = Input({
  // No control characters and no half surrogate pairs: the database keeps neither NUL nor the latter.
  email: Type.String({
    minLength: 1,
    maxLength: 320,
    pattern: worded('^[^\\p{Cc}\\p{Cs}]*$', 'must have no control characters'),
  }),
  password: Type.String({ minLength: 1, maxLength: 1024 }),
  totp: Type.Optional(Text(32)),
});
export type SignInInput = Static<typeof SignInInput>;

export const AuthMethod = Type.Enum(['PASSWORD', 'OIDC']);
export type AuthMethod = Static<typeof AuthMethod>;

/** What somebody has to do before anything else. */
export const OBLIGATIONS = ['CHANGE_PASSWORD', 'SET_UP_TWO_FACTOR', 'PROVE_TWO_FACTOR'] as const;
export type Obligation = (typeof OBLIGATIONS)[number];
export const Me = Type.Object({
  id: Id,
  name: Type.String(),
  email: Type.String(),
  authMethod: AuthMethod,
  twoFactorEnabled: Type.Boolean(),
  isSuperAdmin: Type.Boolean(),
  /** Whether there is a password to sign in with. */
  hasPassword: Type.Boolean(),
  /** Whether an identity provider's account is linked. */
  linkedToProvider: Type.Boolean(),
  /** How this session began. */
  signedInBy: Type.Enum(['password', 'oidc']),
  /** The user's teams that require a second factor. */
  twoFactorRequiredBy: Type.Array(Type.String()),
  /** Backup codes that were not used yet. */
  backupCodesLeft: Type.Integer(),
  /** What has to be done before anything else. */
  owes: Nullable(Type.Enum([...OBLIGATIONS])),
  passwordChangedAt: Nullable(Timestamp),
  /** The longest life of a personal token, as super admins have set it. */
  tokenMaxDays: Type.Integer(),
});
export type Me = Static<typeof Me>;

export const TeamSummary = Type.Object({
  id: Id,
  name: Type.String(),
  /** The caller's role in it. */
  role: Role,
  memberCount: Type.Integer(),
  environmentCount: Type.Integer(),
  createdAt: Timestamp,
});
export type TeamSummary = Static<typeof TeamSummary>;
export const TeamList = Type.Array(TeamSummary);

export const TeamName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: worded('\\S', 'must not be blank'),
});
export const CreateTeam = Input({ name: TeamName });
export const CreatedTeam = Type.Object({ id: Id, name: Type.String() });

// Oneself

/** ASVS 5.0 6.2: 8 characters or more, any of them, and none is cut off. */
export const NewPassword = Type.String({ minLength: 8, maxLength: 1024 });
export const ChangePassword = Input({
  currentPassword: Type.String({ minLength: 1, maxLength: 1024 }),
  newPassword: NewPassword,
});
export const ConfirmPassword = Input({ currentPassword: Type.String({ minLength: 1, maxLength: 1024 }) });
export const PersonName = Label(100);
export const UpdateProfile = Input({ name: PersonName });
/** Shown once. The second factor counts once a code of it was given to `user.verifyAndEnableTotp`. */
export const TotpSetup = Type.Object({
  /** `otpauth://totp/…`: what the QR code holds. */
  uri: Type.String(),
  /** In base 32, to type in. */
  secret: Type.String(),
  backupCodes: Type.Array(Type.String()),
});
export type TotpSetup = Static<typeof TotpSetup>;
/** Six digits, or a backup code where that is said. */
export const TotpCode = Input({ code: Type.String({ minLength: 1, maxLength: 32 }) });
export const BackupCodes = Type.Object({ backupCodes: Type.Array(Type.String()) });

export const SessionSummary = Type.Object({
  id: Id,
  method: Type.Enum(['password', 'oidc']),
  ipAddress: Nullable(Type.String()),
  /** As the browser sends it, at most 256 characters. */
  userAgent: Nullable(Type.String()),
  createdAt: Timestamp,
  /** Exact to five minutes; null until the first look. */
  lastSeenAt: Nullable(Timestamp),
  expiresAt: Timestamp,
  /** The one that asks. */
  current: Type.Boolean(),
});
export type SessionSummary = Static<typeof SessionSummary>;
export const SessionList = Type.Array(SessionSummary);
export const SessionId = Input({ id: Id });
export const SessionsEnded = Type.Object({ ended: Type.Integer() });

// Teams and who is in them

export const TeamId = Input({ teamId: Id });
export const TeamById = Input({ id: Id });
export const TeamMember = Type.Object({
  userId: Id,
  name: Type.String(),
  email: Type.String(),
  role: Role,
  /** `group`: by group sync, and changed by it. */
  source: Type.Enum(['manual', 'group']),
  authMethod: AuthMethod,
  twoFactorEnabled: Type.Boolean(),
  isSuperAdmin: Type.Boolean(),
  lockedAt: Nullable(Timestamp),
  lockedBy: Nullable(Type.Enum(['admin', 'scim'])),
  lastSignInAt: Nullable(Timestamp),
  /** Why the caller may not lock, unlock or reset this account; null where they may. */
  accountOutOfReach: Nullable(Type.String()),
});
export type TeamMember = Static<typeof TeamMember>;
export const TeamDetail = Type.Object({
  id: Id,
  name: Type.String(),
  /** The caller's. */
  role: Role,
  requireTwoFactor: Type.Boolean(),
  createdAt: Timestamp,
  environmentCount: Type.Integer(),
  members: Type.Array(TeamMember),
});
export type TeamDetail = Static<typeof TeamDetail>;
/** Null for somebody who is in no team. */
export const RoleAnswer = Type.Object({ role: Nullable(Role) });
export const RenameTeam = Input({ teamId: Id, name: TeamName });
export const Email = Type.String({
  minLength: 3,
  maxLength: 320,
  pattern: worded(EMAIL, 'must be an e-mail address'),
});
export const AddMember = Input({ teamId: Id, email: Email, role: Role });
export const Member = Input({ teamId: Id, userId: Id });
export const MemberRole = Input({ teamId: Id, userId: Id, role: Role });
export const RequireTwoFactor = Input({ teamId: Id, requireTwoFactor: Type.Boolean() });
/** Shown once; good for nothing but its own change, until then. */
export const GivenPassword = Type.Object({ temporaryPassword: Type.String(), expiresAt: Timestamp });

// Everybody, for super admins

export const UserSummary = Type.Object({
  id: Id,
  name: Type.String(),
  email: Type.String(),
  authMethod: AuthMethod,
  isSuperAdmin: Type.Boolean(),
  twoFactorEnabled: Type.Boolean(),
  lockedAt: Nullable(Timestamp),
  lockedBy: Nullable(Type.Enum(['admin', 'scim'])),
  /** Whether an identity provider keeps this account by SCIM. */
  provisioned: Type.Boolean(),
  mustChangePassword: Type.Boolean(),
  createdAt: Timestamp,
  lastSignInAt: Nullable(Timestamp),
  teams: Type.Array(
    Type.Object({ id: Id, name: Type.String(), role: Role, source: Type.Enum(['manual', 'group']) }),
  ),
  /** Names of groups of the identity provider, with those that lead to no team. */
  groups: Type.Array(Type.String()),
  /** Issuers of the identity providers whose accounts are linked to this one. */
  linkedTo: Type.Array(Type.String()),
  /** When an identity provider confirmed this person last, at a sign-in or a refresh. */
  confirmedAt: Nullable(Timestamp),
  /** Since when, or from when on, the account or its group roles rest, unless a provider confirms; null: not by this rule. */
  restsAt: Nullable(Timestamp),
  /** What rests at that time. */
  rests: Nullable(Type.Enum(['account', 'roles'])),
});
export type UserSummary = Static<typeof UserSummary>;
export const UserList = Type.Array(UserSummary);
export const UserId = Input({ userId: Id });
const Issuer = Type.String({ minLength: 1, maxLength: 2_000 });
/** One link where the issuer is named, else all. */
export const UnlinkUser = Input({ userId: Id, issuer: Type.Optional(Issuer) });
export const UnlinkIssuer = Input({ issuer: Issuer });
export const AccountsUnlinked = Type.Object({
  unlinked: Type.Integer(),
  /** Of these, accounts without a password: the next sign-in with their verified address is joined to them. */
  relinkable: Type.Integer(),
});
export const CreateUser = Input({
  email: Email,
  name: PersonName,
  teamId: Type.Optional(Id),
  role: Type.Optional(Role),
});
export const CreatedUser = Type.Object({ id: Id, password: Type.String(), expiresAt: Timestamp });
export const ToggleSuperAdmin = Input({ userId: Id, isSuperAdmin: Type.Boolean() });
export const AssignToTeam = Input({ userId: Id, teamId: Id, role: Role });
export const UserInTeam = Input({ userId: Id, teamId: Id });
export const TeamOverview = Type.Object({
  id: Id,
  name: Type.String(),
  memberCount: Type.Integer(),
  adminCount: Type.Integer(),
  environmentCount: Type.Integer(),
  requireTwoFactor: Type.Boolean(),
  createdAt: Timestamp,
});
export type TeamOverview = Static<typeof TeamOverview>;
export const TeamOverviewList = Type.Array(TeamOverview);
/** A group of the identity provider. Names are compared as they are. */
export const GroupOverview = Type.Object({
  name: Type.String(),
  memberCount: Type.Integer(),
  /** By mappings and patterns. */
  leadsTo: Type.Array(Type.Object({ teamId: Id, role: Role })),
  /** Who is in it is a super admin, by the options of a provider. */
  superAdmins: Type.Boolean(),
});
export type GroupOverview = Static<typeof GroupOverview>;
export const GroupOverviewList = Type.Array(GroupOverview);

/** What a personal token opens. */
export const TOKEN_SCOPES = [
  /** The password of git over HTTP. */
  'git',
  /** The tools of `/mcp`: reads, and makes proposals. */
  'mcp',
  /** The same, and changes things at once, as the user could. */
  'mcp.write',
] as const;
export const TokenScope = Type.Enum([...TOKEN_SCOPES]);
export type TokenScope = Static<typeof TokenScope>;

/** A personal token: the password of git's Basic authentication, or the bearer token of an agent. Shown once. */
export const CreateToken = Input({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  /** 90 unless given, or less where the setting allows no more. */
  expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650 })),
  /** For git alone unless given. */
  scopes: Type.Optional(
    Type.Array(TokenScope, { minItems: 1, maxItems: TOKEN_SCOPES.length, uniqueItems: true }),
  ),
});
export const CreatedToken = Type.Object({ id: Id, token: Type.String(), expiresAt: Nullable(Timestamp) });
export const TokenSummary = Type.Object({
  id: Id,
  name: Type.String(),
  createdAt: Timestamp,
  lastUsedAt: Nullable(Timestamp),
  expiresAt: Nullable(Timestamp),
  scopes: Type.Array(TokenScope),
});
export const TokenList = Type.Array(TokenSummary);
export const TokenId = Input({ id: Id });
export const Done = Type.Object({ ok: Type.Literal(true) });
