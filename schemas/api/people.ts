/** Users and teams. */
import Type, { type Static } from 'typebox';
import { Id, Input, Nullable, Role, Text, Timestamp } from './common.ts';

export const SignInInput = Input({
  // No control characters and no half surrogate pairs: the database keeps neither NUL nor the latter.
  email: Type.String({ minLength: 1, maxLength: 320, pattern: '^[^\\p{Cc}\\p{Cs}]*$' }),
  password: Type.String({ minLength: 1, maxLength: 1024 }),
  totp: Type.Optional(Text(32)),
});
export type SignInInput = Static<typeof SignInInput>;

export const Me = Type.Object({
  id: Id,
  name: Type.String(),
  email: Type.String(),
  authMethod: Type.Enum(['PASSWORD', 'OIDC']),
  twoFactorEnabled: Type.Boolean(),
  isSuperAdmin: Type.Boolean(),
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

export const TeamName = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' });
export const CreateTeam = Input({ name: TeamName });
export const CreatedTeam = Type.Object({ id: Id, name: Type.String() });

/** A personal token: the password of git's Basic authentication. Shown once. */
export const CreateToken = Input({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650 })),
});
export const CreatedToken = Type.Object({ id: Id, token: Type.String(), expiresAt: Nullable(Timestamp) });
export const TokenSummary = Type.Object({
  id: Id,
  name: Type.String(),
  createdAt: Timestamp,
  lastUsedAt: Nullable(Timestamp),
  expiresAt: Nullable(Timestamp),
});
export const TokenList = Type.Array(TokenSummary);
export const TokenId = Input({ id: Id });
export const Done = Type.Object({ ok: Type.Literal(true) });
