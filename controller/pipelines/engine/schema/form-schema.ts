/**
 * The schema of one option or component, made small and self-contained for forms: references are put in, alternatives that
 * only say "or null" are dropped, and what is too deep, too large or refers to itself becomes a plain object.
 *
 * Beside the keywords of JSON Schema it has `enumDescriptions` (one for each of `enum`), `x-unit`, `x-advanced`,
 * `x-language` (`vrl`), `x-sensitive`, `x-template` (`{{ field }}` may stand in it), `x-suggestions` (words that a text is
 * often one of), and `x-cut` where something was cut off.
 */
import { simplifyArms } from './form-arms.ts';

export type Schema = { [keyword: string]: unknown };

/** Schemas inside of a component's. Vector's largest component has some hundreds. */
const MAX_NODES = 2_500;
const MAX_DESCRIPTION = 2_000;
const MAX_TITLE = 200;
const MAX_VALUE_CHARS = 2_000;
const MAX_EXAMPLES = 5;
const MAX_VARIANTS = 500;
/** Bounds of the number types of the engine's language, and not of an option. */
const MECHANICAL = 2 ** 53 - 1;
/** Names that belong to every object: a form could not tell them from its own. */
const UNSAFE = new Set(['__proto__', 'constructor', 'prototype']);

const KEPT = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minItems',
  'maxItems',
  'uniqueItems',
  'deprecated',
] as const;

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const schemasOf = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isSchema) : []);

export const metadataOf = (schema: Schema): Schema => (isSchema(schema._metadata) ? schema._metadata : {});

/** The schema that a reference leads to; undefined where it leads nowhere. */
export function definitionOf(reference: unknown, definitions: Schema): Schema | undefined {
  if (typeof reference !== 'string') return undefined;
  const found = definitions[definitionName(reference)];
  return isSchema(found) ? found : undefined;
}

const definitionName = (reference: string) => reference.replace(/^#\/(?:definitions|\$defs)\//, '');

export class FormSchemas {
  readonly #definitions: Schema;
  readonly #maxDepth: number;
  #nodes = 0;

  /** For one component: its size is bounded as a whole. `maxDepth` counts levels of options inside of options. */
  constructor(definitions: Schema, maxDepth: number) {
    this.#definitions = definitions;
    this.#maxDepth = maxDepth;
  }

  /** Whether something was cut off for its size. */
  get isOver(): boolean {
    return this.#nodes > MAX_NODES;
  }

  of(schema: Schema): Schema {
    return this.#schema(schema, 0, new Set());
  }

  #schema(schema: Schema, depth: number, within: ReadonlySet<string>): Schema {
    const about = describe(schema);
    if (depth > this.#maxDepth || this.isOver) return { ...cut(), ...about };
    this.#nodes += 1;
    if (typeof schema.$ref === 'string') {
      const found = this.#referred(schema.$ref, depth, within);
      return found['x-sensitive'] ? asCredential({ ...found, ...about }) : { ...found, ...about };
    }
    const branches = schemasOf(schema.allOf);
    if (branches.length > 0) {
      const { allOf: _, ...own } = schema;
      const parts = [...branches, ...(hasShape(own) ? [own] : [])];
      return { ...merge(parts.map((part) => this.#part(part, depth, within))), ...about };
    }
    const arms = armsOf(schema).filter((arm) => !isNull(arm) && !('not' in arm) && !isHidden(arm));
    if (arms.length > 0) return { ...this.#alternatives(schema, arms, depth, within), ...about };
    return { ...this.#plain(schema, depth, within), ...about };
  }

  /** One of `allOf`. A part that may be null is optional as a whole: nothing of it is required. */
  #part(part: Schema, depth: number, within: ReadonlySet<string>): Schema {
    const found = this.#schema(part, depth, within);
    if (!armsOf(definitionOf(part.$ref, this.#definitions) ?? part).some(isNull)) return found;
    const { required: _, ...optional } = found;
    return optional;
  }

  #referred(reference: string, depth: number, within: ReadonlySet<string>): Schema {
    const target = definitionOf(reference, this.#definitions);
    if (!target || within.has(reference)) return cut();
    const found = this.#schema(target, depth, new Set([...within, reference]));
    return /sensitive_string/i.test(reference) ? asCredential(found) : found;
  }

  #alternatives(schema: Schema, arms: Schema[], depth: number, within: ReadonlySet<string>): Schema {
    const words = wordsOf(arms);
    if (words) return words;
    const { oneOf: _one, anyOf: _any, ...own } = schema;
    const shared = hasShape(own) ? [this.#schema(own, depth, within)] : [];
    const found = arms.slice(0, MAX_VARIANTS).map((arm) => {
      const one = merge([...shared, this.#schema(arm, depth, within)]);
      const title = armTitle(arm, one);
      return title === undefined ? one : { ...one, title };
    });
    const simple = simplifyArms(found);
    return metadataOf(schema)['docs::type_override'] === 'condition' ? asCondition(simple) : simple;
  }

  #plain(schema: Schema, depth: number, within: ReadonlySet<string>): Schema {
    const form: Schema = {};
    const type = typeOf(schema);
    if (type !== undefined) form.type = type;
    if ('const' in schema) form.const = schema.const;
    if (Array.isArray(schema.enum)) {
      form.enum = schema.enum.filter((value) => value !== null).slice(0, MAX_VARIANTS);
      if (type === undefined && schema.enum.every((value) => typeof value === 'string')) form.type = 'string';
    }
    for (const keyword of KEPT) {
      const value = schema[keyword];
      if (value === undefined || (typeof value === 'number' && Math.abs(value) >= MECHANICAL)) continue;
      form[keyword] = value;
    }
    if (metadataOf(schema)['docs::type_override'] === 'ascii_char') return { type: 'string', maxLength: 1 };
    // A number of which only zero is excluded.
    if (isSchema(schema.not) && schema.not.const === 0 && form.minimum === 0) form.minimum = 1;
    if (isSchema(schema.items)) form.items = this.#schema(schema.items, depth + 1, within);
    const properties = Object.entries(isSchema(schema.properties) ? schema.properties : {}).filter(
      (entry): entry is [string, Schema] =>
        isSchema(entry[1]) && !UNSAFE.has(entry[0]) && !isHidden(entry[1]),
    );
    if (isSchema(schema.properties)) {
      form.properties = Object.fromEntries(
        properties.map(([name, property]) => [name, this.#schema(property, depth + 1, within)]),
      );
      const names = new Set(properties.map(([name]) => name));
      const required = textsOf(schema.required).filter((name) => names.has(name));
      if (required.length > 0) form.required = required;
    }
    const { additionalProperties } = schema;
    if (isSchema(additionalProperties)) {
      const about = metadataOf(schema)['docs::additional_props_description'];
      const values = this.#schema(additionalProperties, depth + 1, within);
      form.additionalProperties = {
        ...(typeof about === 'string' && { description: shorten(about, MAX_DESCRIPTION) }),
        ...values,
      };
    } else if (typeof additionalProperties === 'boolean') form.additionalProperties = additionalProperties;
    return form;
  }
}

function cut(): Schema {
  return { type: 'object', additionalProperties: true, 'x-cut': true };
}

/** What a schema says about itself, which goes before what it refers to. */
function describe(schema: Schema): Schema {
  const metadata = metadataOf(schema);
  const about: Schema = {};
  const title = metadata['docs::human_name'] ?? (isSentence(schema.title) ? undefined : schema.title);
  if (typeof title === 'string') about.title = shorten(title, MAX_TITLE);
  // The first sentence of a description comes as title.
  const sentences = [isSentence(schema.title) ? schema.title : undefined, schema.description];
  const description = sentences.filter((part) => typeof part === 'string' && part !== '').join('\n\n');
  if (description !== '') about.description = shorten(description, MAX_DESCRIPTION);
  const isCharacter = metadata['docs::type_override'] === 'ascii_char';
  if (schema.default !== undefined && schema.default !== null && isSmall(schema.default)) {
    const code = schema.default;
    about.default = isCharacter && typeof code === 'number' ? String.fromCharCode(code) : code;
  }
  const examples = [
    ...(Array.isArray(schema.examples) ? schema.examples : []),
    ...examplesOf(metadata['docs::examples'], typeOf(schema)),
  ].filter((example) => isSmall(example) && !VARIABLE.test(JSON.stringify(example)));
  const isCredential = metadata.sensitive === true || /sensitive_string/i.test(String(schema.$ref));
  if (isCredential) about['x-sensitive'] = true;
  else if (examples.length > 0) about.examples = examples.slice(0, MAX_EXAMPLES);
  if (schema.deprecated === true) about.deprecated = true;
  if (typeof metadata['docs::type_unit'] === 'string') about['x-unit'] = metadata['docs::type_unit'];
  if (metadata['docs::advanced'] === true) about['x-advanced'] = true;
  if (metadata['docs::templateable'] === true) about['x-template'] = true;
  if (String(metadata['docs::syntax_override']).startsWith('remap_')) about['x-language'] = 'vrl';
  return about;
}

/** One example, or a list of them; an example of a list is a list itself. */
function examplesOf(value: unknown, type: unknown): unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return [value];
  return type === 'array' && !value.every(Array.isArray) ? [value] : value;
}

/** One word out of a few: each with what it means, where anybody says so. */
function wordsOf(arms: readonly Schema[]): Schema | undefined {
  const words = arms.flatMap((arm) =>
    typeof arm.const === 'string' && !isSchema(arm.properties)
      ? [{ word: arm.const, about: typeof arm.description === 'string' ? arm.description : '' }]
      : Array.isArray(arm.enum) && arm.enum.every((word) => typeof word === 'string')
        ? arm.enum.map((word: string) => ({ word, about: '' }))
        : [null],
  );
  const known = words.filter((word) => word !== null).slice(0, MAX_VARIANTS);
  if (words.length === 0 || words.some((word) => word === null)) return undefined;
  const descriptions = known.map(({ about }) => shorten(about, MAX_DESCRIPTION));
  return {
    type: 'string',
    enum: known.map(({ word }) => word),
    ...(descriptions.some((about) => about !== '') && { enumDescriptions: descriptions }),
  };
}

/** Objects become one; alternatives of which an object is one take the other options in. */
function merge(parts: readonly Schema[]): Schema {
  const [first, ...others] = parts;
  if (!first || others.length === 0) return first ?? {};
  return others.reduce(mergeTwo, first);
}

function mergeTwo(a: Schema, b: Schema): Schema {
  // Two choices at one level would be every pair of them.
  if (Array.isArray(a.oneOf) && Array.isArray(b.oneOf)) {
    const { oneOf: _, ...rest } = b;
    return mergeTwo(a, { ...rest, additionalProperties: true, 'x-cut': true });
  }
  if (Array.isArray(a.oneOf)) return { ...a, oneOf: a.oneOf.map((arm: Schema) => mergeTwo(arm, b)) };
  if (Array.isArray(b.oneOf)) {
    const { oneOf, ...rest } = b;
    return { ...rest, oneOf: (oneOf as Schema[]).map((arm) => mergeTwo(a, arm)) };
  }
  const merged: Schema = { ...a, ...b };
  if (isSchema(a.properties) || isSchema(b.properties)) {
    merged.type = 'object';
    merged.properties = { ...(a.properties as Schema | undefined), ...(b.properties as Schema | undefined) };
  }
  const required = [...new Set([...textsOf(a.required), ...textsOf(b.required)])];
  if (required.length > 0) merged.required = required;
  return merged;
}

/** An alternative's own name: what it is called, or the word that tags it. */
function armTitle(arm: Schema, form: Schema): string | undefined {
  const metadata = metadataOf(arm);
  const written = isSentence(arm.title) ? undefined : arm.title;
  const properties = Object.values(isSchema(form.properties) ? form.properties : {});
  const tag = properties.find((property) => isSchema(property) && typeof property.const === 'string');
  const word = isSchema(tag) ? tag.const : arm.const;
  const title = metadata['docs::human_name'] ?? written ?? word ?? metadata.logical_name;
  return typeof title === 'string' ? shorten(title, MAX_TITLE) : undefined;
}

/** A name for a form is no sentence. */
const isSentence = (title: unknown): boolean =>
  typeof title === 'string' && (/[.:]$/.test(title.trim()) || title.length > 60);

function asCredential(schema: Schema): Schema {
  const { examples: _, ...rest } = schema;
  return { ...rest, 'x-sensitive': true };
}

/** A text is a VRL expression, and so is the source of the written-out form. */
function asCondition(schema: Schema): Schema {
  const arms = schemasOf(schema.oneOf).map((arm): Schema => {
    if (arm.type === 'string') return { ...arm, 'x-language': 'vrl' };
    const { type, source } = isSchema(arm.properties) ? arm.properties : {};
    if (!isSchema(type) || type.const !== 'vrl' || !isSchema(source)) return arm;
    return {
      ...arm,
      properties: { ...(arm.properties as Schema), source: { ...source, 'x-language': 'vrl' } },
    };
  });
  return { ...schema, ...(arms.length > 0 && { oneOf: arms }), 'x-language': 'vrl' };
}

/** The type without `null`, which says that an option may be left out. */
function typeOf(schema: Schema): unknown {
  if (!Array.isArray(schema.type)) return schema.type;
  const types = schema.type.filter((type) => type !== 'null');
  return types.length === 1 ? types[0] : types;
}

/** Of another configuration than one's own: a push refuses it. */
const VARIABLE = /\$\{|\$[A-Za-z_]/;

const armsOf = (schema: Schema): Schema[] => schemasOf(schema.oneOf ?? schema.anyOf);
const hasShape = (schema: Schema): boolean =>
  ['type', 'properties', 'oneOf', 'anyOf', 'items', 'enum', 'const', '$ref'].some((key) => key in schema);
const isNull = (schema: Schema): boolean =>
  schema.type === 'null' || ('const' in schema && schema.const === null);
const isHidden = (schema: Schema): boolean => metadataOf(schema)['docs::hidden'] === true;
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
const isSmall = (value: unknown): boolean => (JSON.stringify(value) ?? '').length <= MAX_VALUE_CHARS;
const shorten = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit - 1).toWellFormed()}…`;
