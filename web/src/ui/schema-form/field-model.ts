/** Which field an option gets, from what its schema says. Pure: the fields themselves are beside this. */
import { type FormSchema, isPlain, type Plain } from './schema.ts';

export type Field =
  | { kind: 'text'; language?: 'vrl' }
  | { kind: 'number'; integer: boolean }
  | { kind: 'boolean' }
  | { kind: 'words'; words: Word[] }
  | {
      kind: 'section';
      properties: [name: string, schema: FormSchema][];
      required: readonly string[];
      /** Options beside the properties are allowed. */
      open: boolean;
    }
  | { kind: 'map'; values: FormSchema }
  | { kind: 'list'; items: FormSchema }
  | { kind: 'choice'; arms: Arm[] }
  /** What no field can show is edited as YAML. */
  | { kind: 'yaml' };

export interface Word {
  value: unknown;
  about: string;
}

/** One of several forms that a value may have. */
export interface Arm {
  title: string;
  schema: FormSchema;
  /** What is written when it is chosen. */
  initial: unknown;
}

const SCALARS = ['string', 'number', 'integer', 'boolean'];

/** `language` is that of the map or choice around it. */
export function fieldOf(schema: FormSchema, language?: string): Field {
  if (schema['x-cut']) return { kind: 'yaml' };
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives && alternatives.length > 0) {
    const arms = armsOf(alternatives);
    return arms ? { kind: 'choice', arms } : { kind: 'yaml' };
  }
  if (schema.enum && schema.enum.length > 0) {
    const words = schema.enum.map((value, at) => ({ value, about: schema.enumDescriptions?.[at] ?? '' }));
    return { kind: 'words', words };
  }
  if ('const' in schema)
    return { kind: 'words', words: [{ value: schema.const, about: schema.description ?? '' }] };
  switch (schema.type) {
    case 'string':
      return (schema['x-language'] ?? language) === 'vrl'
        ? { kind: 'text', language: 'vrl' }
        : { kind: 'text' };
    case 'number':
    case 'integer':
      return { kind: 'number', integer: schema.type === 'integer' };
    case 'boolean':
      return { kind: 'boolean' };
    case 'array':
      return schema.items ? { kind: 'list', items: schema.items } : { kind: 'yaml' };
    default:
      return objectField(schema);
  }
}

function objectField(schema: FormSchema): Field {
  const properties = Object.entries(schema.properties ?? {});
  const { additionalProperties } = schema;
  if (properties.length > 0) {
    return {
      kind: 'section',
      properties,
      required: schema.required ?? [],
      open: additionalProperties === true || isPlain(additionalProperties),
    };
  }
  return isPlain(additionalProperties) ? { kind: 'map', values: additionalProperties } : { kind: 'yaml' };
}

/** Stands for the value of a variable, in the place of a value of any type. */
const VARIABLE = /^\$(\{[^}]+\}|[A-Za-z_]\w*)$/;
export const isVariable = (value: unknown): boolean => typeof value === 'string' && VARIABLE.test(value);

/** Whether the field can show the value; what it cannot is edited as YAML, so that nothing is lost. */
export function fits(field: Field, value: unknown): boolean {
  if (value === undefined) return true;
  switch (field.kind) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number' || isVariable(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'words':
      return value === null || typeof value !== 'object';
    case 'section':
    case 'map':
      return isPlain(value);
    case 'list':
      return Array.isArray(value);
    case 'choice':
      return armAt(field.arms, value) >= 0;
    case 'yaml':
      return true;
  }
}

/** The index of the arm that the value has the form of; -1 where it has that of none. */
export function armAt(arms: readonly Arm[], value: unknown): number {
  return arms.findIndex(({ schema }) => matches(schema, value));
}

function matches(schema: FormSchema, value: unknown): boolean {
  const types = typesOf(schema);
  if (types && !types.some((type) => isOfType(value, type))) return false;
  if ('const' in schema) return value === schema.const;
  if (schema.enum) return schema.enum.includes(value);
  if (!isPlain(value)) return types !== null || schema.properties === undefined;
  for (const [name, words] of tagsOf(schema)) {
    if (Object.hasOwn(value, name) ? !words.includes(value[name]) : isRequired(schema, name)) return false;
  }
  // Without a tag, what must be there tells them apart.
  return tagsOf(schema).size > 0 || (schema.required ?? []).every((name) => Object.hasOwn(value, name));
}

const isRequired = (schema: FormSchema, name: string): boolean => schema.required?.includes(name) ?? false;

function typesOf({ type, properties }: FormSchema): string[] | null {
  if (type === undefined) return properties ? ['object'] : null;
  return Array.isArray(type) ? type : [type];
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isPlain(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

/** Properties of which only certain words are allowed. */
function tagsOf(schema: FormSchema): Map<string, unknown[]> {
  const tags = new Map<string, unknown[]>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if ('const' in property) tags.set(name, [property.const]);
    else if (property.enum) tags.set(name, property.enum);
  }
  return tags;
}

/** The alternatives where a value matches one of them only; null otherwise. */
function armsOf(schemas: readonly FormSchema[]): Arm[] | null {
  const clear = schemas.every((a, at) => schemas.slice(at + 1).every((b) => areApart(a, b)));
  if (!clear) return null;
  return schemas.map((schema, at) => ({
    schema,
    title: armTitle(schema, at),
    initial: initialOf(schema),
  }));
}

const ARTICLES: Record<string, string> = {
  string: 'text',
  object: 'options',
  array: 'list',
  integer: 'number',
};

function armTitle(schema: FormSchema, at: number): string {
  const { title, type } = schema;
  if (title !== undefined) return ARTICLES[title] ?? title;
  return typeof type === 'string' ? (ARTICLES[type] ?? type) : `form ${at + 1}`;
}

function areApart(a: FormSchema, b: FormSchema): boolean {
  const types = typesOf(a);
  const others = typesOf(b);
  if (!types || !others) return false;
  const overlap = (type: string) => others.some((other) => isSameType(type, other));
  const shared = types.filter(overlap);
  if (shared.length === 0) return true;
  if (shared.some((type) => SCALARS.includes(type)))
    return wordsApart(a.enum ?? constOf(a), b.enum ?? constOf(b));
  if (!shared.includes('object')) return false;
  const tags = tagsOf(b);
  for (const [name, words] of tagsOf(a)) {
    const other = tags.get(name);
    if (other && wordsApart(words, other) && (isRequired(a, name) || isRequired(b, name))) return true;
  }
  return hasOwnRequired(a, b) && hasOwnRequired(b, a);
}

const isSameType = (a: string, b: string): boolean =>
  a === b || (a === 'integer' && b === 'number') || (a === 'number' && b === 'integer');
const constOf = (schema: FormSchema): unknown[] | undefined =>
  'const' in schema ? [schema.const] : undefined;
const wordsApart = (a: unknown[] | undefined, b: unknown[] | undefined): boolean =>
  a !== undefined && b !== undefined && !a.some((word) => b.includes(word));
/** It needs an option that the other one does not have. */
const hasOwnRequired = (a: FormSchema, b: FormSchema): boolean =>
  (a.required ?? []).some((name) => !Object.hasOwn(b.properties ?? {}, name));

/** What a list or a map gets for a new entry, and what a chosen form begins with. */
export function initialOf(schema: FormSchema): unknown {
  if ('const' in schema) return schema.const;
  const field = fieldOf(schema);
  switch (field.kind) {
    case 'text':
      return typeof schema.default === 'string' ? schema.default : '';
    case 'number':
      return typeof schema.default === 'number' ? schema.default : (schema.minimum ?? 0);
    case 'boolean':
      return typeof schema.default === 'boolean' ? schema.default : true;
    case 'words':
      return field.words[0]?.value;
    case 'list':
      return [];
    case 'choice':
      return field.arms[0]?.initial;
    case 'section':
      return tagsWritten(schema);
    default:
      return schema.type === 'string' ? '' : {};
  }
}

/** The tags that say which form it is. */
function tagsWritten(schema: FormSchema): Plain {
  const tags = Object.entries(schema.properties ?? {}).filter(
    ([name, property]) => 'const' in property && isRequired(schema, name),
  );
  return Object.fromEntries(tags.map(([name, property]) => [name, property.const]));
}

/** The value in another form: options that both forms have are kept. */
export function carryOver(value: unknown, to: Arm): unknown {
  if (!isPlain(value) || !isPlain(to.initial)) return to.initial;
  const names = Object.keys(to.schema.properties ?? {});
  const tags = tagsOf(to.schema);
  const kept = Object.entries(value).filter(
    ([name, option]) => names.includes(name) && (!tags.has(name) || tags.get(name)?.includes(option)),
  );
  return { ...Object.fromEntries(kept), ...to.initial };
}

const OR_VARIABLE = 'or a variable such as $\u007BNAME}.';

/** What is wrong with the text of a number field; empty when nothing is, and for a variable. */
export function numberProblem(schema: FormSchema, text: string): string {
  if (text === '' || isVariable(text)) return '';
  const value = Number(text);
  if (text.trim() !== text || !Number.isFinite(value)) return `A number, ${OR_VARIABLE}`;
  if (schema.type === 'integer' && !Number.isSafeInteger(value)) return `A whole number, ${OR_VARIABLE}`;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (minimum !== undefined && value < minimum) return `At least ${minimum}.`;
  if (maximum !== undefined && value > maximum) return `At most ${maximum}.`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `More than ${exclusiveMinimum}.`;
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) return `Less than ${exclusiveMaximum}.`;
  return '';
}
