/** What is wrong with an engine config, and what was looked at. */
import Type, { type Static } from 'typebox';
import { Id, Input } from '../common.ts';

export const ValidationError = Type.Object({
  message: Type.String(),
  componentKey: Type.Optional(Type.String()),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
  level: Type.Optional(Type.String()),
  /** JSON pointer into the definition, `/transforms/parse/source`; line and column count inside that text. */
  path: Type.Optional(Type.String()),
});
export type ValidationError = Static<typeof ValidationError>;

/** What was checked: structure, references, secrets, options, vrl, engine, in this order. */
export const ValidationLevel = Type.Object({
  level: Type.String(),
  status: Type.Enum(['passed', 'failed', 'skipped']),
  detail: Type.String(),
});

export const ConfigYaml = Type.String({ minLength: 1, maxLength: 1_048_576 });

/** validator.validate: an engine config by itself. */
export const ValidateConfig = Input({
  yaml: ConfigYaml,
  /** Its secrets count as known. Without one every SVC_SECRET_ variable is taken for granted. */
  environmentId: Type.Optional(Id),
});

export const ConfigValidity = Type.Object({
  valid: Type.Boolean(),
  errors: Type.Array(ValidationError),
  /** What the engine would ignore, or may refuse on some nodes: nothing is refused for it. */
  warnings: Type.Array(ValidationError),
  levels: Type.Array(ValidationLevel),
  /** What only the checker at hand does not know. */
  unknown: Type.Array(Type.String()),
});
