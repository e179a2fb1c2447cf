/** From the schemas that check requests to those of the description: the same rules, named where they have a name. */
import { DESCRIBED_AS, schemaNames } from './named-schemas.ts';

export type Json = Record<string, unknown>;

export interface SchemaWriter {
  /** The schema, or a reference to the component that it became. */
  write(schema: object): Json;
  /** Those that were referred to, by name. */
  components(): Json;
}

/** Of a schema's parts, those that are schemas, lists of them, or maps to them. */
const ONE = ['items', 'additionalProperties', 'propertyNames', 'not'] as const;
const MANY = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const;
const MAPS = ['properties', 'patternProperties'] as const;
const ANY_KEY = '^.*$';

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export interface SchemaWriterOptions {
  /** Schemas that become components. None: all are written in place. */
  names?: ReadonlyMap<object, string>;
  /** Whether objects that name their fields have no others. */
  closed?: boolean;
}

export function createSchemaWriter(options: SchemaWriterOptions = {}): SchemaWriter {
  const { names = schemaNames(), closed: isClosed = true } = options;
  /** An optional field holds a copy of its schema. */
  const byText = new Map([...names].map(([schema, name]) => [JSON.stringify(schema), name]));
  const written = new Map<string, Json>();

  const nameOf = (schema: object): string | undefined =>
    names.get(schema) ?? ('~optional' in schema ? byText.get(JSON.stringify(schema)) : undefined);

  function write(schema: object): Json {
    const name = nameOf(schema);
    if (name === undefined) return convert(schema as Json);
    if (!written.has(name)) {
      written.set(name, {});
      written.set(name, convert((DESCRIBED_AS[name] ?? schema) as Json));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  function convert(schema: Json): Json {
    const out: Json = { ...schema };
    for (const key of ONE) if (isObject(out[key])) out[key] = write(out[key]);
    for (const key of MANY) {
      const list = out[key];
      if (Array.isArray(list)) out[key] = list.map((one: object) => write(one));
    }
    for (const key of MAPS) {
      const map = out[key];
      if (!isObject(map)) continue;
      out[key] = Object.fromEntries(Object.entries(map).map(([name, one]) => [name, write(one as object)]));
    }
    const free = freeKeys(portable(out));
    return nullable(typedEnum(isClosed ? closed(free) : free));
  }

  return {
    write,
    components: () => Object.fromEntries([...written].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/**
 * The classes of Unicode that patterns of ours name, as ranges: `\\p{…}` is known to ECMAScript and few others. Surrogates
 * are in no text that is sent as UTF-8.
 */
const CLASSES: Readonly<Record<string, string>> = { Cc: '\\x00-\\x1f\\x7f-\\x9f', Cs: '' };

export const portablePattern = (pattern: string): string =>
  pattern.replace(/\\p\{(\w+)\}/g, (all, name: string) => CLASSES[name] ?? all);

function portable(schema: Json): Json {
  const { pattern, patternProperties } = schema;
  return {
    ...schema,
    ...(typeof pattern === 'string' ? { pattern: portablePattern(pattern) } : {}),
    ...(isObject(patternProperties)
      ? {
          patternProperties: Object.fromEntries(
            Object.entries(patternProperties).map(([key, one]) => [portablePattern(key), one]),
          ),
        }
      : {}),
  };
}

/** Generators know maps by `additionalProperties`. */
function freeKeys(schema: Json): Json {
  const { patternProperties, ...rest } = schema;
  if (!isObject(patternProperties) || Object.keys(patternProperties).join() !== ANY_KEY) return schema;
  return { ...rest, additionalProperties: patternProperties[ANY_KEY] };
}

/** The server sends no fields but those that are named, unless the schema says so: a test compares its answers. */
function closed(schema: Json): Json {
  const { type, properties, additionalProperties } = schema;
  if (type !== 'object' || properties === undefined || additionalProperties !== undefined) return schema;
  return { ...schema, additionalProperties: false };
}

function typedEnum(schema: Json): Json {
  const { enum: values } = schema;
  if (!Array.isArray(values) || 'type' in schema) return schema;
  return values.every((value) => typeof value === 'string') ? { type: 'string', ...schema } : schema;
}

/** `T or null` as a list of types, where T is one plain type. */
function nullable(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [first, second] = anyOf as Json[];
  if (!first || second?.type !== 'null' || typeof first.type !== 'string' || 'enum' in first) return schema;
  return { ...first, ...rest, type: [first.type, 'null'] };
}
