/** Users, as the SCIM routes hand them to the operations: names of attributes as RFC 7643 writes them, values of one form. */
import Type, { type Static } from 'typebox';
import { Input, Nullable } from '../api/common.ts';
import {
  DisplayName,
  ExternalId,
  FilterText,
  Reference,
  SCIM_LIMITS,
  ScimId,
  ScimPage,
  ScimTimes,
  WhereText,
} from './common.ts';

const Part = Nullable(Type.String({ minLength: 1, maxLength: SCIM_LIMITS.text }));
export const ScimName = Input({ formatted: Part, givenName: Part, familyName: Part });
export type ScimName = Static<typeof ScimName>;

const Address = Type.String({ minLength: 1, maxLength: SCIM_LIMITS.address });
const Kind = Type.String({ minLength: 1, maxLength: 64 });
export const ScimEmail = Input({
  value: Address,
  /** For example `work`. */
  type: Type.Optional(Kind),
  primary: Type.Optional(Type.Boolean()),
  display: Type.Optional(DisplayName),
});
export type ScimEmail = Static<typeof ScimEmail>;

const Emails = Type.Array(ScimEmail, { maxItems: SCIM_LIMITS.emails });
const ATTRIBUTES = {
  userName: Address,
  externalId: Nullable(ExternalId),
  displayName: Nullable(DisplayName),
  name: ScimName,
  emails: Emails,
};
/** What is kept of a user as it was given. */
export const UserAttributes = Input(ATTRIBUTES);
export type UserAttributes = Static<typeof UserAttributes>;

/** Whole, as POST and PUT bring it. */
export const UserInput = Input({
  ...ATTRIBUTES,
  /** Absent keeps the one that is known. */
  externalId: Type.Optional(Nullable(ExternalId)),
  /** Absent keeps a user as it is, and makes a new one active. */
  active: Type.Optional(Type.Boolean()),
});
export type UserInput = Static<typeof UserInput>;

export const TEXT_ATTRIBUTES = [
  ...(['userName', 'externalId', 'displayName'] as const),
  ...(['formatted', 'givenName', 'familyName'] as const),
] as const;

/** Which e-mail addresses are meant, by their parts; null is every one. */
export const EmailMatch = Nullable(WhereText);
export type EmailMatch = Static<typeof EmailMatch>;

/** One thing that PATCH says of a user. */
export const UserChange = Type.Union([
  Input({
    kind: Type.Literal('text'),
    attribute: Type.Enum([...TEXT_ATTRIBUTES]),
    value: Nullable(Type.String({ minLength: 1, maxLength: SCIM_LIMITS.address })),
  }),
  Input({ kind: Type.Literal('active'), value: Type.Boolean() }),
  Input({ kind: Type.Literal('emails'), how: Type.Enum(['set', 'add']), value: Emails }),
  Input({ kind: Type.Literal('emailsGone'), where: EmailMatch }),
  Input({
    kind: Type.Literal('email'),
    where: EmailMatch,
    /** Null clears. */
    fields: Input({
      value: Type.Optional(Address),
      type: Type.Optional(Nullable(Kind)),
      primary: Type.Optional(Nullable(Type.Boolean())),
      display: Type.Optional(Nullable(DisplayName)),
    }),
  }),
]);
export type UserChange = Static<typeof UserChange>;

export const CreateScimUser = UserInput;
export const ReplaceScimUser = Input({ id: ScimId, user: UserInput });
export const PatchScimUser = Input({
  id: ScimId,
  changes: Type.Array(UserChange, { maxItems: SCIM_LIMITS.operations }),
});
export const ScimUserId = Input({ id: ScimId });

export const ListScimUsers = Input({ ...ScimPage, filter: FilterText });
export type ListScimUsers = Static<typeof ListScimUsers>;

export const ScimUser = Type.Object({
  id: ScimId,
  ...ATTRIBUTES,
  /** What the provider says, whatever an administrator's lock says. */
  active: Type.Boolean(),
  groups: Type.Array(Reference),
  ...ScimTimes,
});
export type ScimUser = Static<typeof ScimUser>;
export const ScimUserList = Type.Object({ total: Type.Integer(), users: Type.Array(ScimUser) });
export type ScimUserList = Static<typeof ScimUserList>;
