/** Streams of events out of Headgate: to a webhook, or as logs by OTLP. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { GivenName, Id, Input, Nullable, Timestamp } from '../common.ts';

/** The audit log, or what happens to alert events. */
export const STREAM_SOURCES = ['audit', 'alerts'] as const;
export const StreamSource = Type.Enum([...STREAM_SOURCES]);
export type StreamSource = Static<typeof StreamSource>;
export const STREAM_KINDS = ['webhook', 'otlp'] as const;
export const StreamKind = Type.Enum([...STREAM_KINDS]);
export type StreamKind = Static<typeof StreamKind>;

const Url = Type.String({ minLength: 1, maxLength: 2_000 });
const HeaderValue = Type.String({
  maxLength: 4_096,
  pattern: worded('^[\\x20-\\x7e]*$', 'must have only printable ASCII characters'),
});
/** Names are checked by the operation, which names the wrong one. */
const Headers = Type.Record(Type.String(), HeaderValue, { maxProperties: 20 });

export const EventStream = Type.Object({
  id: Id,
  name: Type.String(),
  source: StreamSource,
  kind: StreamKind,
  url: Type.String(),
  /** Values are never returned. */
  headerNames: Type.Array(Type.String()),
  /** Whether requests are signed as Standard Webhooks define it. */
  isSigned: Type.Boolean(),
  enabled: Type.Boolean(),
  /** The number of the last entry that was delivered, or where the stream began. */
  cursor: Type.Integer(),
  /** How many entries wait. */
  waiting: Type.Integer(),
  /** How many entries were delivered. */
  delivered: Type.Integer(),
  lastDeliveredAt: Nullable(Timestamp),
  /** Why the last delivery failed; null once one was taken. */
  lastError: Nullable(Type.String()),
  lastErrorAt: Nullable(Timestamp),
  /** Failed deliveries in a row. */
  failures: Type.Integer(),
  /** Entries that were never delivered, in all, and why the last of them were not. */
  missed: Nullable(Type.Object({ entries: Type.Integer(), reason: Type.String(), at: Timestamp })),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type EventStream = Static<typeof EventStream>;
export const EventStreams = Type.Array(EventStream);

export const CreateStream = Input({
  name: GivenName,
  source: StreamSource,
  kind: StreamKind,
  url: Url,
  headers: Type.Optional(Headers),
  /** `now`, the default, sends what comes from now on; `oldest` all that is kept. */
  startAt: Type.Optional(Type.Enum(['now', 'oldest'])),
  enabled: Type.Optional(Type.Boolean()),
});
export type CreateStream = Static<typeof CreateStream>;

export const UpdateStream = Input({
  id: Id,
  name: Type.Optional(GivenName),
  url: Type.Optional(Url),
  /** All of them; null removes them. Absent keeps them. */
  headers: Type.Optional(Nullable(Headers)),
  enabled: Type.Optional(Type.Boolean()),
  /** Of a webhook: another signing secret, which is returned once. */
  renewSigningSecret: Type.Optional(Type.Boolean()),
});
export type UpdateStream = Static<typeof UpdateStream>;

export const SavedStream = Type.Object({
  stream: EventStream,
  /** Of a webhook, when it was made: `whsec_…`. It is not shown again. */
  signingSecret: Nullable(Type.String()),
});
export const StreamId = Input({ id: Id });
export const StreamTest = Type.Object({
  delivered: Type.Boolean(),
  /** Null where nothing answered. */
  status: Nullable(Type.Integer()),
  /** A sentence. */
  message: Type.String(),
});
export type StreamTest = Static<typeof StreamTest>;
