/** The audit log, as it is followed from outside. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Id, Input, Nullable, Timestamp } from '../common.ts';

export const ACTOR_TYPES = ['user', 'service_account', 'git', 'scim', 'system'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

/** `hash` is the SHA-256, in hex, of all other fields as JSON with sorted keys and no white space. */
export const AuditEvent = Type.Object({
  id: Id,
  /** Without gaps over the whole installation; other environments take numbers too. */
  seq: Type.Integer(),
  actorType: Type.Enum([...ACTOR_TYPES]),
  /** Of a service account its own id. */
  userId: Nullable(Type.String()),
  /** Of a service account its name, of git the author. */
  userEmail: Nullable(Type.String()),
  /** For example `pipeline.deployed`. */
  action: Type.String(),
  entityType: Type.String(),
  entityId: Nullable(Type.String()),
  /** Field to what it was and is, where a mutation tells. */
  diff: Nullable(Type.Record(Type.String(), Type.Unknown())),
  metadata: Nullable(Type.Record(Type.String(), Type.Unknown())),
  ipAddress: Nullable(Type.String()),
  teamId: Nullable(Id),
  environmentId: Nullable(Id),
  commitSha: Nullable(Type.String()),
  createdAt: Timestamp,
  /** The hash of the event with the number before. */
  prevHash: Type.String(),
  hash: Type.String(),
});
export type AuditEvent = Static<typeof AuditEvent>;

export const AUDIT_LIMIT = { default: 50, minimum: 1, maximum: 200 } as const;
/** Fifteen digits stay exact in JSON. */
export const AuditCursor = Type.String({
  pattern: worded('^[0-9]{1,15}$', 'must be a cursor that an earlier answer gave'),
});
export const AuditAction = Type.String({ minLength: 1, maxLength: 100 });
export const AuditAfter = Input({
  environmentId: Id,
  /** The cursor of the page before; absent begins with the oldest event. */
  after: Type.Optional(AuditCursor),
  limit: Type.Optional(Type.Integer(AUDIT_LIMIT)),
  action: Type.Optional(AuditAction),
});
export const AuditPage = Type.Object({
  /** Ascending. */
  events: Type.Array(AuditEvent),
  /** For the next page; on an empty page the one that was given. */
  cursor: AuditCursor,
  hasMore: Type.Boolean(),
});

// As people look at it

/** In the place of an entity type: users and groups that SCIM keeps. */
export const SCIM_ALL = 'SCIM';
const Text100 = Type.String({ minLength: 1, maxLength: 100 });
/** A day (`2026-01-31`, in UTC) or a moment in ISO 8601. */
const DayOrMoment = Type.String({
  pattern: worded(
    '^\\d{4}-\\d{2}-\\d{2}(T[0-9:.]{5,15}(Z|[+-]\\d{2}:\\d{2})?)?$',
    'must be a time as ISO 8601 writes it, such as 2026-01-31 or 2026-01-31T08:00:00Z',
  ),
  maxLength: 40,
});
const AUDIT_FILTERS = {
  action: Type.Optional(AuditAction),
  /** Of a service account its own id. */
  userId: Type.Optional(Text100),
  actorType: Type.Optional(Type.Enum([...ACTOR_TYPES])),
  /** `SCIM` is ScimUser and ScimGroup. */
  entityType: Type.Optional(Text100),
  /** In action, entity, id, who, address, commit, and what changed; whatever the case. */
  search: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  teamId: Type.Optional(Id),
  environmentId: Type.Optional(Id),
  startDate: Type.Optional(DayOrMoment),
  /** With that day. */
  endDate: Type.Optional(DayOrMoment),
};
export const AuditFilter = Input(AUDIT_FILTERS);
export type AuditFilter = Static<typeof AuditFilter>;
export const ListAudit = Input({
  ...AUDIT_FILTERS,
  /** Of the page before. */
  cursor: Type.Optional(AuditCursor),
  /** Default: 50. */
  limit: Type.Optional(Type.Integer(AUDIT_LIMIT)),
});
export type ListAudit = Static<typeof ListAudit>;
/** An event with the names that people know: null where what it names is gone, or is nobody's. */
export const AuditEntryView = Type.Object({
  ...AuditEvent.properties,
  actorName: Nullable(Type.String()),
  teamName: Nullable(Type.String()),
  environmentName: Nullable(Type.String()),
});
export type AuditEntryView = Static<typeof AuditEntryView>;
export const AuditList = Type.Object({
  /** The newest first. */
  entries: Type.Array(AuditEntryView),
  /** Of the next page; null on the last. A page may be short, or empty, and have one: it has looked at as many events as it may. */
  nextCursor: Nullable(AuditCursor),
});
/** A longer export goes on from the number of its last event, as `cursor`. */
export const EXPORT_LIMIT = 100_000;
export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;
export const ExportAudit = Input({
  ...AUDIT_FILTERS,
  format: Type.Enum([...EXPORT_FORMATS]),
  cursor: Type.Optional(AuditCursor),
});
export type ExportAudit = Static<typeof ExportAudit>;
/** Where an export begins: never with the event that tells of it. */
export const ExportBegins = Type.Object({ cursor: AuditCursor });
export const AuditWords = Type.Array(Type.String());
export const AuditUsers = Type.Array(
  Type.Object({ id: Type.String(), name: Nullable(Type.String()), email: Nullable(Type.String()) }),
);
