/** The schema of an engine as option checks read it: made small once, then asked for what a part of it stands for. */
import { definitionOf, isSchema, type Schema, schemasOf } from './form-schema.ts';

/** Keywords that say what a value may be. The rest of a schema is for people and forms. */
const KEPT = new Set([
  'type',
  'const',
  'enum',
  'allOf',
  'oneOf',
  'anyOf',
  'items',
  'properties',
  'required',
  'additionalProperties',
  'unevaluatedProperties',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  '$ref',
]);

/** The schema without what only forms need: a tenth of the memory, and quick to hand over from a thread. */
export function compactSchema(document: Schema): Schema {
  const definitions = isSchema(document.definitions) ? document.definitions : document.$defs;
  return {
    ...compact(document),
    definitions: Object.fromEntries(
      Object.entries(isSchema(definitions) ? definitions : {}).flatMap(([name, one]) =>
        isSchema(one) ? [[name, compact(one)]] : [],
      ),
    ),
  };
}

function compact(schema: Schema): Schema {
  const result: Schema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (!KEPT.has(keyword)) continue;
    if (keyword === 'properties' && isSchema(value)) {
      result.properties = Object.fromEntries(
        Object.entries(value).flatMap(([name, one]) => (isSchema(one) ? [[name, compact(one)]] : [])),
      );
    } else if (Array.isArray(value) && ['allOf', 'oneOf', 'anyOf'].includes(keyword)) {
      result[keyword] = schemasOf(value).map(compact);
    } else if (keyword === 'const' || !isSchema(value)) result[keyword] = value;
    else result[keyword] = compact(value);
  }
  if ('default' in schema) result.hasDefault = true;
  const metadata = isSchema(schema._metadata) ? schema._metadata : {};
  if (metadata['docs::templateable'] === true) result.template = true;
  // The schema gives the number of the character; it is read as text.
  if (metadata['docs::type_override'] === 'ascii_char') {
    const { minimum: _, maximum: __, ...others } = result;
    const types = typesIn(schema)?.includes('null') ? ['string', 'null'] : 'string';
    return { ...others, type: types, isCharacter: true };
  }
  return result;
}

export function typesIn(schema: Schema): string[] | null {
  if (typeof schema.type === 'string') return [schema.type];
  return Array.isArray(schema.type) ? schema.type.map(String) : null;
}

/** As a schema names the type of a value. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

/** Looks into a schema; where it refers to itself, no deeper than it makes sense. */
export class SchemaReader {
  readonly #definitions: Schema;
  /** The arms of a choice by the name that they give themselves. */
  readonly #tags = new WeakMap<Schema, { field: string; arms: Map<string, Schema> } | null>();
  readonly #types = new WeakMap<Schema, ReadonlySet<string>>();

  /** `document` as `compactSchema` gives it. */
  constructor(document: Schema) {
    this.#definitions = isSchema(document.definitions) ? document.definitions : {};
  }

  /** What a schema refers to; null where it refers to nothing. */
  target(schema: Schema): Schema | null {
    return definitionOf(schema.$ref, this.#definitions) ?? null;
  }

  knows(schema: Schema, type: unknown, depth = 0): boolean {
    if (depth > 8 || typeof type !== 'string') return false;
    const target = this.target(schema);
    if (target && this.knows(target, type, depth + 1)) return true;
    if (schemasOf(schema.allOf).some((part) => this.knows(part, type, depth + 1))) return true;
    return this.tagged(schema)?.arms.has(type) ?? false;
  }

  /** The words that an arm stands for. */
  words(arm: Schema, depth = 0): string[] {
    if (depth > 8) return [];
    const own = 'const' in arm ? [arm.const] : Array.isArray(arm.enum) ? arm.enum : [];
    const target = this.target(arm);
    const below = [
      ...schemasOf(arm.oneOf ?? arm.anyOf),
      ...schemasOf(arm.allOf),
      ...(target ? [target] : []),
    ];
    return [
      ...own.filter((word) => typeof word === 'string'),
      ...below.flatMap((child) => this.words(child, depth + 1)),
    ];
  }

  /** The field by whose constant the arms of a choice tell themselves apart. */
  tagged(schema: Schema): { field: string; arms: Map<string, Schema> } | null {
    const known = this.#tags.get(schema);
    if (known !== undefined) return known;
    const arms = new Map<string, Schema>();
    let field: string | null = null;
    for (const arm of schemasOf(schema.oneOf ?? schema.anyOf)) {
      const tag = this.#tagOf(arm);
      if (!tag || (field !== null && tag.field !== field)) continue;
      field = tag.field;
      if (!arms.has(tag.word)) arms.set(tag.word, arm);
    }
    const found = field === null ? null : { field, arms };
    this.#tags.set(schema, found);
    return found;
  }

  #tagOf(arm: Schema, depth = 0): { field: string; word: string } | null {
    if (depth > 4) return null;
    const required = new Set(Array.isArray(arm.required) ? arm.required : []);
    for (const [field, one] of Object.entries(isSchema(arm.properties) ? arm.properties : {})) {
      if (isSchema(one) && typeof one.const === 'string' && (required.has(field) || field === 'type'))
        return { field, word: one.const };
    }
    // The tag of an arm stands beside what it refers to; that may have choices with tags of their own.
    for (const part of [...schemasOf(arm.allOf)].reverse()) {
      const found = this.#tagOf(part, depth + 1);
      if (found) return found;
    }
    const target = this.target(arm);
    return target ? this.#tagOf(target, depth + 1) : null;
  }

  /** The types that a schema has room for. Empty where it does not say. */
  typesOf(schema: Schema, depth = 0): ReadonlySet<string> {
    const known = this.#types.get(schema);
    if (known) return known;
    const found = new Set<string>(typesIn(schema) ?? []);
    if (found.size === 0 && 'const' in schema) found.add(kindOf(schema.const));
    if (found.size === 0 && Array.isArray(schema.enum))
      for (const value of schema.enum) found.add(kindOf(value));
    if (found.size === 0 && isSchema(schema.properties)) found.add('object');
    const target = this.target(schema);
    if (found.size === 0 && depth < 8) {
      const below = [
        ...schemasOf(schema.allOf),
        ...(target ? [target] : []),
        ...schemasOf(schema.oneOf ?? schema.anyOf),
      ];
      for (const child of below) for (const type of this.typesOf(child, depth + 1)) found.add(type);
    }
    this.#types.set(schema, found);
    return found;
  }

  items(schema: Schema, depth = 0): Schema[] {
    if (depth > 8) return [];
    const target = this.target(schema);
    return [
      ...(isSchema(schema.items) ? [schema.items] : []),
      ...[...schemasOf(schema.allOf), ...schemasOf(schema.oneOf), ...(target ? [target] : [])].flatMap(
        (child) => this.items(child, depth + 1),
      ),
    ];
  }

  isTemplate(schema: Schema, depth = 0): boolean {
    if (depth > 8) return false;
    if (schema.template === true) return true;
    const target = this.target(schema);
    return [...schemasOf(schema.allOf), ...schemasOf(schema.oneOf), ...(target ? [target] : [])].some(
      (child) => this.isTemplate(child, depth + 1),
    );
  }
}
