/** Pieces that the inputs and outputs of operations share. */
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import { worded } from '../patterns.ts';

/** A moment: a `Date` in process, an ISO 8601 string on the wire. */
export const Timestamp = Type.Unsafe<Date>({ type: 'string', format: 'date-time' });
export const Id = Type.String({ minLength: 1, maxLength: 64 });
export const Text = (maxLength: number) => Type.String({ maxLength });
/** Control characters, and what is not seen or turns the text around it: two names could look like one. */
const UNSEEN = '\\p{Cc}\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff';
/** What people write on their things. White space at the ends is taken off before it is stored. */
export const Label = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: worded(
      `^\\s*[^\\s${UNSEEN}][^${UNSEEN}]*$`,
      'must have something that can be seen, and no control characters',
    ),
  });
export const GivenName = Label(100);
export const Deleted = Type.Object({ deleted: Type.Literal(true) });
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Inputs refuse fields that they do not know: a misspelt option must not be ignored silently. */
export const Input = <P extends TProperties>(properties: P): TObject<P> =>
  Type.Object(properties, { additionalProperties: false });
/** For procedures without input. `undefined`, `null` and `{}` all come in as `{}`. */
export const NoInput = Input({});
export type NoInput = Static<typeof NoInput>;

export const Role = Type.Enum(['VIEWER', 'EDITOR', 'ADMIN']);
export type Role = Static<typeof Role>;

export const LogLevelName = Type.Enum(['trace', 'debug', 'info', 'warn', 'error']);
/** Labels and selectors: a node matches a selector when it carries every pair of it. */
export const LabelMap = Type.Record(Text(128), Text(256), { maxProperties: 64 });
export type LabelMap = Static<typeof LabelMap>;

/** The four points of the gate strip, in the order in which a change passes them. */
export const GATE_POINTS = ['git', 'accepted', 'delivered', 'running'] as const;
export const GATE_STATES = ['done', 'moving', 'held', 'failed', 'unknown'] as const;
export const GateSegment = Type.Object({
  point: Type.Enum([...GATE_POINTS]),
  state: Type.Enum([...GATE_STATES]),
  /** The commit that has reached this point, full length. */
  commit: Nullable(Type.String()),
  /** The version that has reached this point. */
  version: Nullable(Type.Integer()),
  at: Nullable(Timestamp),
  /** A sentence for people: why it stands where it stands. */
  reason: Type.String(),
});
export type GateSegment = Static<typeof GateSegment>;
/** Always the four segments in order. */
export const Gate = Type.Array(GateSegment, { minItems: 4, maxItems: 4 });
export type Gate = Static<typeof Gate>;
export type GateState = GateSegment['state'];

export const CONDITION_TYPES = ['Parsed', 'Validated', 'Tested', 'Applied', 'RolledOut', 'Healthy'] as const;
export const Condition = Type.Object({
  type: Type.Enum([...CONDITION_TYPES]),
  status: Type.Enum(['True', 'False', 'Unknown']),
  /** One CamelCase word for machines, for example `SchemaInvalid`. */
  reason: Type.String(),
  message: Type.String(),
  file: Nullable(Type.String()),
  line: Nullable(Type.Integer()),
  commit: Nullable(Type.String()),
  lastTransition: Timestamp,
});
export type Condition = Static<typeof Condition>;

/** Where a git-owned object's manifest stands, and what became of it. */
export const GitOrigin = Type.Object({
  path: Type.String(),
  line: Type.Integer(),
  /** The commit at which it was last applied. */
  commit: Nullable(Type.String()),
  conditions: Type.Array(Condition),
});
export type GitOrigin = Static<typeof GitOrigin>;
