/** What the engine of the controller knows, and programs that are tried on an event. */
import Type, { type Static } from 'typebox';
import { Input, Nullable, Text } from '../common.ts';

export const ComponentKind = Type.Enum(['SOURCE', 'TRANSFORM', 'SINK']);
export type ComponentKind = Static<typeof ComponentKind>;

const aboutEngine = {
  /** Name and version, as in `vector 0.58.0`. */
  engine: Type.String(),
  /** Why options are not known, as a sentence; null where they are. */
  detail: Nullable(Type.String()),
};

export const CatalogueEntry = Type.Object({
  kind: ComponentKind,
  type: Type.String(),
  /** A name for people. */
  title: Type.String(),
  description: Type.String(),
});
export type CatalogueEntry = Static<typeof CatalogueEntry>;

export const EngineCatalogue = Type.Object({ ...aboutEngine, components: Type.Array(CatalogueEntry) });
export type EngineCatalogue = Static<typeof EngineCatalogue>;

export const ComponentSchemaInput = Input({
  kind: ComponentKind,
  type: Type.String({ minLength: 1, maxLength: 100 }),
});

export const ComponentSchema = Type.Object({
  ...aboutEngine,
  /**
   * JSON Schema of an object with the options of the type, without `type` and `inputs`, and without references. Beside
   * JSON Schema's own keywords: `enumDescriptions` (one for each of `enum`), `x-unit` (`seconds`, `bytes`, …),
   * `x-advanced` (few people need it), `x-language` (`vrl`), `x-sensitive` (name a secret here), `x-template` (`{{ field }}`
   * may stand in it), `x-suggestions` (words that a text is often one of), `x-cut` (more may be set than is listed here). A choice is a `oneOf` whose cases have a `title`; the
   * tag of a case is a property with `const`.
   */
  schema: Type.Record(Type.String(), Type.Unknown()),
});
export type ComponentSchema = Static<typeof ComponentSchema>;

/** In characters, as for an event in bytes. */
const MAX_PROGRAM = 65_536;
export const MAX_EVENT_BYTES = 65_536;

export const TestVrl = Input({
  source: Text(MAX_PROGRAM),
  /** One event as a JSON object. */
  input: Text(MAX_EVENT_BYTES),
  /** A condition passes the event where it resolves to true; a program, which it is unless this says so, changes it. */
  purpose: Type.Optional(Type.Enum(['program', 'condition'])),
});

export const VrlDiagnostic = Type.Object({
  severity: Type.Enum(['error', 'warning', 'note']),
  /** Of https://errors.vrl.dev; null for what is not the compiler's. */
  code: Nullable(Type.Integer()),
  message: Type.String(),
  /** Lines and columns count from 1 in UTF-16 units; the end is behind the last character. */
  line: Type.Integer(),
  column: Type.Integer(),
  endLine: Type.Integer(),
  endColumn: Type.Integer(),
  /** What to do. */
  hint: Type.String(),
});
export type VrlDiagnostic = Static<typeof VrlDiagnostic>;

export const VrlTestResult = Type.Object({
  /** It compiled and ran to its end, or to an `abort`. */
  success: Type.Boolean(),
  /** The event that leaves as JSON, or an array of several; null where none does. */
  output: Nullable(Type.String()),
  /** The value of the last expression as JSON. */
  result: Nullable(Type.String()),
  /** No event leaves. */
  dropped: Type.Boolean(),
  dropReason: Nullable(Type.String()),
  /** Why it failed while it ran, or could not be run. */
  error: Nullable(Type.String()),
  diagnostics: Type.Array(VrlDiagnostic),
});
export type VrlTestResult = Static<typeof VrlTestResult>;
