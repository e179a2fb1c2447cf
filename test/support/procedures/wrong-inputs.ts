/** Inputs of the wrong form, made of one that is right. What is wrong in the same way in several fields is sent at once. */
import type { TSchema } from 'typebox';

export interface FieldSchema {
  type?: string;
  maxLength?: number;
  anyOf?: FieldSchema[];
}

export interface WrongInput {
  /** Each of them is to be named; `''` is the input itself. */
  fields: string[];
  input: unknown;
  /** Whether what reads texts refuses it, before the schema is asked: that one ends at the first text. */
  isUnstorable?: true;
}

export const propertiesOf = (schema: TSchema): Record<string, FieldSchema> =>
  'properties' in schema ? (schema.properties as Record<string, FieldSchema>) : {};

/** The forms that a field may have; none where it may have any. */
const typesOf = ({ type, anyOf }: FieldSchema): (string | undefined)[] =>
  anyOf ? anyOf.flatMap(typesOf) : [type];

/** How long a text of the field may be, where that is named. */
const maxLengthOf = ({ maxLength, anyOf }: FieldSchema): number | undefined =>
  maxLength ?? anyOf?.map(maxLengthOf).find((length) => length !== undefined);

/** What exceeds any limit, in all texts of an input together: an address holds less than a body, and REST takes less of that. */
const TOO_LONG = { query: 5_000, mutation: 1_200_000, rest: 200_000 };

export function wrongInputs(
  kind: keyof typeof TOO_LONG,
  schema: TSchema,
  good: Record<string, unknown>,
): WrongInput[] {
  const typed = Object.entries(propertiesOf(schema))
    .map(([field, property]) => ({ field, property, types: typesOf(property) }))
    .filter(({ types }) => !types.includes(undefined));
  const fieldsWith = (type: string) =>
    typed.filter(({ types }) => types.includes(type)).map(({ field }) => field);
  const inEach = (fields: string[], wrongOf: (field: string) => unknown): WrongInput[] =>
    fields.length === 0
      ? []
      : [{ fields, input: { ...good, ...Object.fromEntries(fields.map((one) => [one, wrongOf(one)])) } }];
  const texts = fieldsWith('string');
  const objects = fieldsWith('object');
  return [
    { fields: ['surprise'], input: { ...good, surprise: 1 } },
    { fields: [''], input: 'text' },
    { fields: [''], input: [good] },
    ...inEach('required' in schema ? (schema.required as string[]) : [], () => undefined),
    ...inEach(
      typed.map(({ field }) => field),
      (field) => (objects.includes(field) ? 'text' : { $ne: null }),
    ),
    ...inEach(
      typed.filter(({ types }) => !types.includes('null')).map(({ field }) => field),
      () => null,
    ),
    ...inEach(texts, () => 7),
    ...tooLong(kind, typed).flatMap((long) =>
      inEach([...long.keys()], (field) => 'x'.repeat(long.get(field)!)),
    ),
    ...[
      ...inEach(texts.slice(0, 1), () => 'nul\0byte'),
      ...inEach(texts.slice(-1), () => 'half a \ud800 pair'),
      ...inEach(objects.slice(0, 1), () => ({ text: 'nul\0byte' })),
    ].map((wrong) => ({ ...wrong, isUnstorable: true as const })),
  ];
}

/** Lengths of texts that are one too long, as many of them at once as an address or a body holds. */
function tooLong(
  kind: keyof typeof TOO_LONG,
  typed: { field: string; property: FieldSchema; types: unknown[] }[],
) {
  const groups: Map<string, number>[] = [];
  for (const { field, property, types } of typed) {
    if (!types.includes('string')) continue;
    const least = (maxLengthOf(property) ?? Infinity) + 1;
    // What REST takes of such a text is for its operation to say.
    if (kind === 'rest' && least > TOO_LONG.rest) continue;
    const length = Math.min(least, TOO_LONG[kind]);
    const last = groups.at(-1);
    const used = [...(last?.values() ?? [])].reduce((sum, one) => sum + one, 0);
    if (last && used + length <= TOO_LONG[kind]) last.set(field, length);
    else groups.push(new Map([[field, length]]));
  }
  return groups;
}
