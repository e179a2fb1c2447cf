/**
 * What the value of an option may be, written once: as JSON Schema for people and editors, and as the reader that the engine
 * uses itself. So neither knows an option, a type or a variant that the other does not.
 */
import { mismatch, unavailable, unknownVariant } from './refusals.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonSchema = { readonly [keyword: string]: Json };

/** The component that a value belongs to, as in `sinks.out`, and the name of its option. */
export interface Place {
  path: string;
  name: string;
}

/** Gives the schema of a shape, or a reference to it where it has a name. */
export type Define = (shape: Shape<unknown>) => JsonSchema;

export interface Shape<T> {
  /** For errors, as in `a string`. */
  readonly expected: string;
  /** Under which several options share the schema in `definitions`. */
  readonly name?: string;
  schema(define: Define): JsonSchema;
  /** Whether a value is of this kind, before its details are looked at. */
  accepts(value: unknown): boolean;
  /** Throws ConfigError. `value` is neither null nor undefined. */
  read(value: unknown, place: Place): T;
}

function scalar<T>(
  expected: string,
  schema: JsonSchema,
  accepts: (value: unknown) => value is T,
  name?: string,
): Shape<T> {
  return {
    expected,
    ...(name && { name }),
    schema: () => schema,
    accepts,
    read(value, place) {
      if (!accepts(value)) throw mismatch(value, `${expected} for \`${place.name}\``, place.path);
      return value;
    },
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

export const text = scalar('a string', { type: 'string' }, isText);
/** A text that is a credential. */
export const sensitiveText = scalar(
  'a string',
  {
    type: 'string',
    description: 'A credential. Name a secret of the environment here, and never its value.',
  },
  isText,
  'vector_common::sensitive_string::SensitiveString',
);
export const flag = scalar(
  'a boolean',
  { type: 'boolean' },
  (value): value is boolean => typeof value === 'boolean',
);
/** What the engine takes and does not look at. */
export const anything: Shape<unknown> = {
  expected: 'a value',
  schema: () => ({}),
  accepts: () => true,
  read: (value) => value,
};

interface Bounds {
  minimum?: number;
  /** The value must be greater than this. */
  above?: number;
  maximum?: number;
}

export const number = (bounds: Bounds = {}) => bounded('number', bounds, Number.isFinite);
export const integer = (bounds: Bounds = {}) => bounded('integer', bounds, Number.isSafeInteger);

function bounded(
  type: 'integer' | 'number',
  { minimum, above, maximum }: Bounds,
  isKind: (value: unknown) => boolean,
): Shape<number> {
  const limits = [
    minimum === undefined ? '' : `of at least ${minimum}`,
    above === undefined ? '' : `greater than ${above}`,
    maximum === undefined ? '' : `at most ${maximum}`,
  ].filter(Boolean);
  const expected = [type === 'integer' ? 'an integer' : 'a number', limits.join(' and ')].join(' ').trim();
  const unsigned = (minimum ?? above ?? -1) >= 0;
  const kind = type === 'number' ? 'float' : unsigned ? 'uint' : 'int';
  const schema: JsonSchema = {
    type,
    ...(minimum !== undefined && { minimum }),
    ...(above !== undefined && { exclusiveMinimum: above }),
    ...(maximum !== undefined && { maximum }),
    _metadata: { 'docs::numeric_type': kind },
  };
  return {
    ...scalar(expected, schema, (value): value is number => {
      if (typeof value !== 'number' || !isKind(value)) return false;
      return (
        value >= (minimum ?? value) &&
        value <= (maximum ?? value) &&
        value > (above ?? Number.NEGATIVE_INFINITY)
      );
    }),
    // A number out of bounds is a number still, and no other alternative.
    accepts: (value) => typeof value === 'number',
  };
}

/** One of a few words. A record tells what each of them means; `lacking` are those that only Vector has. */
export function variants<T extends string>(
  known: readonly T[] | Readonly<Record<T, string>>,
  lacking: readonly string[] = [],
): Shape<T> {
  const meanings = Array.isArray(known) ? undefined : (known as Readonly<Record<T, string>>);
  const words = meanings ? (Object.keys(meanings) as T[]) : (known as readonly T[]);
  return {
    expected: 'a string',
    schema: (): JsonSchema =>
      meanings
        ? {
            oneOf: words.map((word) => ({ const: word, description: meanings[word] })),
            _metadata: { 'docs::enum_tagging': 'external' },
          }
        : { enum: words },
    accepts: isText,
    read(value, place) {
      const word = text.read(value, place);
      if (lacking.includes(word)) throw unavailable(`${place.name}: ${word}`, place.path);
      const variant = words.find((one) => one === word);
      if (variant === undefined) throw unknownVariant(word, words, place.path);
      return variant;
    },
  };
}

export function list<T>(item: Shape<T>, { minItems = 0 } = {}): Shape<T[]> {
  const expected = minItems > 0 ? `a sequence of at least ${minItems}` : 'a sequence';
  return {
    expected,
    schema: (define) => ({ type: 'array', items: define(item), ...(minItems > 0 && { minItems }) }),
    accepts: Array.isArray,
    read(value, place) {
      if (!Array.isArray(value) || value.length < minItems) {
        throw mismatch(value, `${expected} for \`${place.name}\``, place.path);
      }
      return value.map((one) => item.read(one, place));
    },
  };
}

/** A value that is one of two kinds. */
export function either<A, B>(first: Shape<A>, second: Shape<B>, name?: string): Shape<A | B> {
  const expected = `${first.expected} or ${second.expected}`;
  const accepts = (value: unknown) => first.accepts(value) || second.accepts(value);
  return {
    expected,
    ...(name && { name }),
    schema: (define) => ({
      oneOf: [define(first), define(second)],
      _metadata: { 'docs::enum_tagging': 'untagged' },
    }),
    accepts,
    read(value, place) {
      if (!accepts(value)) throw mismatch(value, `${expected} for \`${place.name}\``, place.path);
      return first.accepts(value) ? first.read(value, place) : second.read(value, place);
    },
  };
}

/** The same values, read further; `refine` throws ConfigError for what the schema cannot tell. */
export function refined<T, U>(shape: Shape<T>, refine: (value: T, place: Place) => U): Shape<U> {
  return { ...shape, read: (value, place) => refine(shape.read(value, place), place) };
}
