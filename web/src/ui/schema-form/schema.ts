/** JSON Schema as the controller makes it for forms: self-contained, without references, bounded. */
export interface FormSchema {
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: unknown[];
  /** What each of `enum` means. */
  enumDescriptions?: string[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  properties?: Record<string, FormSchema>;
  required?: string[];
  additionalProperties?: boolean | FormSchema;
  items?: FormSchema;
  oneOf?: FormSchema[];
  anyOf?: FormSchema[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  deprecated?: boolean;
  'x-unit'?: string;
  /** Few people need it. */
  'x-advanced'?: boolean;
  'x-language'?: string;
  'x-sensitive'?: boolean;
  /** `{{ field }}` may stand in it. */
  'x-template'?: boolean;
  /** Words that the text is often one of. */
  'x-suggestions'?: string[];
  /** The list was cut: more is allowed than it names. */
  'x-cut'?: boolean;
}

export type Plain = Record<string, unknown>;

export const isPlain = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What was sent as a schema; anything else says nothing. */
export const schemaFrom = (value: unknown): FormSchema => (isPlain(value) ? value : {});
