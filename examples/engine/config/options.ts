/** The options of a component or of a map inside of it: described once, read by name. */
import { mismatch, missingField, unavailable, unknownField, unknownVariant } from './refusals.ts';
import { type Define, type Json, type JsonSchema, type Place, type Shape, text } from './shape.ts';
import { isTable, type Table } from './table.ts';

/** What documentation and forms may want to know beside the schema. */
export interface Hints {
  examples?: readonly Json[];
  unit?: 'seconds' | 'milliseconds' | 'bytes' | 'events';
  /** Few people need it. */
  advanced?: boolean;
  /** VRL: a program, or a condition, which resolves to a boolean. */
  syntax?: 'remap_program' | 'remap_boolean_expression';
  /** What to write instead. */
  deprecated?: string;
}

export interface Option<T> {
  readonly shape: Shape<unknown>;
  readonly about: string;
  readonly presence: 'optional' | 'required' | 'defaulted';
  /** As a configuration would write it. */
  readonly fallback?: Json;
  readonly hints: Hints;
  /** `value` may be missing. Throws ConfigError. */
  read(value: unknown, place: Place): T;
}

export type Options = { readonly [name: string]: Option<unknown> };
export type Values<O extends Options> = { [K in keyof O]: O[K] extends Option<infer T> ? T : never };

const isMissing = (value: unknown) => value === undefined || value === null;

export function optional<T>(shape: Shape<T>, about: string, hints: Hints = {}): Option<T | undefined> {
  return {
    shape,
    about,
    hints,
    presence: 'optional',
    read: (value, place) => (isMissing(value) ? undefined : shape.read(value, place)),
  };
}

export function required<T>(shape: Shape<T>, about: string, hints: Hints = {}): Option<T> {
  return {
    shape,
    about,
    hints,
    presence: 'required',
    read(value, place) {
      if (isMissing(value)) throw missingField(place.name, place.path);
      return shape.read(value, place);
    },
  };
}

/** Where nothing is written, `fallback` is read as if it were. */
export function defaulted<T>(shape: Shape<T>, fallback: Json, about: string, hints: Hints = {}): Option<T> {
  return {
    shape,
    about,
    hints,
    fallback,
    presence: 'defaulted',
    read: (value, place) => shape.read(isMissing(value) ? fallback : value, place),
  };
}

export interface Unknown {
  /** Options that Vector has and this engine has not: refused by their name. */
  lacking?: readonly string[];
  /** Set where Vector's parser passes over options that it does not know, although its schema closes the object. */
  ignoresUnknown?: boolean;
  /** The options that a refusal names; all where this is left out. */
  named?: readonly string[];
}

/** Reads every option that is described, and refuses or ignores all others as Vector does. */
export function readOptions<O extends Options>(
  table: unknown,
  path: string,
  options: O,
  { lacking = [], ignoresUnknown = false, named = Object.keys(options) }: Unknown = {},
): Values<O> {
  if (!isTable(table)) throw mismatch(table, 'a map', path);
  const lacked = lacking.find((name) => !isMissing(table[name]));
  if (lacked !== undefined) throw unavailable(lacked, path);
  const values: Table = {};
  for (const [name, option] of Object.entries(options)) {
    values[name] = option.read(Object.hasOwn(table, name) ? table[name] : undefined, { path, name });
  }
  const unknown = Object.keys(table).find((name) => !Object.hasOwn(options, name) && !lacking.includes(name));
  if (unknown !== undefined && !ignoresUnknown) throw unknownField(unknown, named, path);
  return values as Values<O>;
}

/** A map with options of its own. */
export function table<O extends Options>(
  options: O,
  { name, lacking = [], ignoresUnknown = false }: Omit<Unknown, 'named'> & { name?: string } = {},
): Shape<Values<O>> {
  return {
    expected: 'a map',
    ...(name && { name }),
    schema: (define) => ({ ...optionsSchema(options, define), unevaluatedProperties: false }),
    accepts: isTable,
    read(value, place) {
      if (!isTable(value)) throw mismatch(value, `a map for \`${place.name}\``, place.path);
      return readOptions(value, place.path, options, { lacking, ignoresUnknown });
    },
  };
}

/** A map from names that people choose to values of one kind. */
export function mapOf<T>(value: Shape<T>): Shape<Map<string, T>> {
  return {
    expected: 'a map',
    schema: (define) => ({ type: 'object', additionalProperties: define(value) }),
    accepts: isTable,
    read(map, place) {
      if (!isTable(map)) throw mismatch(map, `a map for \`${place.name}\``, place.path);
      return new Map(
        Object.entries(map).map(([key, item]) => [key, value.read(item, { ...place, name: key })]),
      );
    },
  };
}

interface Case<O extends Options> {
  about: string;
  options: O;
}
type Cases = { readonly [word: string]: Case<Options> };
type Tagged<K extends string, C extends Cases> = {
  [W in keyof C & string]: { [key in K]: W } & Values<C[W]['options']>;
}[keyof C & string];

/** A map whose option `tag` says which others it has; without a word, it is `fallback`. */
export function tagged<K extends string, C extends Cases>(
  tag: K,
  cases: C,
  {
    about,
    fallback,
    name,
    lacking = [],
    lackingCases = [],
    ignoresUnknown = false,
  }: Omit<Unknown, 'named'> & {
    about: string;
    fallback?: keyof C & string;
    name?: string;
    lackingCases?: readonly string[];
  },
): Shape<Tagged<K, C>> {
  const words = Object.keys(cases);
  const schemaOf = (word: string, define: Define): JsonSchema => {
    const { options, about: description } = cases[word]!;
    const { properties, required: names } = optionsSchema(options, define);
    const needed = [...(word === fallback ? [] : [tag]), ...((names as string[] | undefined) ?? [])];
    return {
      type: 'object',
      description,
      properties: { [tag]: { const: word, description }, ...(properties as JsonSchema) },
      ...(needed.length > 0 && { required: needed }),
      unevaluatedProperties: false,
    };
  };
  return {
    expected: 'a map',
    ...(name && { name }),
    schema: (define) => ({
      oneOf: words.map((word) => schemaOf(word, define)),
      _metadata: {
        'docs::enum_tagging': 'internal',
        'docs::enum_tag_field': tag,
        'docs::enum_tag_description': about,
      },
    }),
    accepts: isTable,
    read(value, place) {
      if (!isTable(value)) throw mismatch(value, `a map for \`${place.name}\``, place.path);
      const word = value[tag] ?? fallback;
      if (word === undefined) throw missingField(tag, place.path);
      if (typeof word !== 'string') throw mismatch(word, `a string for \`${tag}\``, place.path);
      if (lackingCases.includes(word)) throw unavailable(`${place.name}.${tag}: ${word}`, place.path);
      if (!Object.hasOwn(cases, word)) throw unknownVariant(word, words, place.path);
      const options = { [tag]: required(text, about), ...cases[word]!.options };
      return readOptions({ ...value, [tag]: word }, place.path, options, {
        lacking,
        ignoresUnknown,
      }) as Tagged<K, C>;
    },
  };
}

/** An object schema with a property for each option. */
export function optionsSchema(options: Options, define: Define): JsonSchema {
  const entries = Object.entries(options);
  const needed = entries.filter(([, { presence }]) => presence === 'required').map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, option]) => [name, optionSchema(option, define)])),
    ...(needed.length > 0 && { required: needed }),
  };
}

function optionSchema({ shape, about, fallback, hints }: Option<unknown>, define: Define): JsonSchema {
  const schema = define(shape);
  // A reference takes no neighbours in the drafts that most tools read.
  const base = '$ref' in schema ? { allOf: [schema] } : schema;
  const metadata = {
    ...(base._metadata as JsonSchema | undefined),
    ...(hints.examples && { 'docs::examples': hints.examples }),
    ...(hints.unit && { 'docs::type_unit': hints.unit }),
    ...(hints.advanced && { 'docs::advanced': true }),
    ...(hints.syntax && { 'docs::syntax_override': hints.syntax }),
    ...(hints.deprecated && { deprecated_message: hints.deprecated }),
  };
  return {
    ...base,
    description: about,
    ...(fallback !== undefined && { default: fallback }),
    ...(hints.deprecated && { deprecated: true }),
    ...(Object.keys(metadata).length > 0 && { _metadata: metadata }),
  };
}
