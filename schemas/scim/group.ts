/** Groups, as the SCIM routes hand them to the operations. */
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

/** Ids of users. */
const Members = Type.Array(ScimId, { maxItems: SCIM_LIMITS.members });

/** Whole, as POST and PUT bring it. */
export const GroupInput = Input({
  displayName: DisplayName,
  /** Absent keeps the one that is known. */
  externalId: Type.Optional(Nullable(ExternalId)),
  members: Members,
});
export type GroupInput = Static<typeof GroupInput>;

/** One thing that PATCH says of a group. */
export const GroupChange = Type.Union([
  Input({ kind: Type.Literal('displayName'), value: DisplayName }),
  Input({ kind: Type.Literal('externalId'), value: Nullable(ExternalId) }),
  Input({
    kind: Type.Literal('members'),
    /** `set` leaves no others. */
    how: Type.Enum(['add', 'remove', 'set']),
    ids: Members,
  }),
  /** Removes the chosen members. */
  Input({ kind: Type.Literal('membersGone'), where: WhereText }),
]);
export type GroupChange = Static<typeof GroupChange>;

export const CreateScimGroup = GroupInput;
export const ReplaceScimGroup = Input({ id: ScimId, group: GroupInput });
export const PatchScimGroup = Input({
  id: ScimId,
  changes: Type.Array(GroupChange, { maxItems: SCIM_LIMITS.members }),
});
export const ScimGroupId = Input({ id: ScimId });
/** Groups may have thousands of members: they are read where they are asked for. */
export const GetScimGroup = Input({ id: ScimId, members: Type.Boolean() });

export const ListScimGroups = Input({ ...ScimPage, members: Type.Boolean(), filter: FilterText });
export type ListScimGroups = Static<typeof ListScimGroups>;

export const ScimGroup = Type.Object({
  id: ScimId,
  externalId: Nullable(ExternalId),
  displayName: DisplayName,
  /** Empty where nobody asked for them. */
  members: Type.Array(Reference),
  ...ScimTimes,
});
export type ScimGroup = Static<typeof ScimGroup>;
/** A page may hold fewer groups than were asked for. */
export const ScimGroupList = Type.Object({ total: Type.Integer(), groups: Type.Array(ScimGroup) });
export type ScimGroupList = Static<typeof ScimGroupList>;
/** The answer to a write leaves out members: there may be thousands. */
export const ScimGroupChanged = Type.Object({ id: ScimId });
export const ScimGone = Type.Object({ deleted: Type.Literal(true) });
