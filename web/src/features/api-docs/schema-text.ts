/** Schemas in words, and what stands inside them. */
import { type ApiDocument, lookUp, type Schema } from './document.ts';

const WORDS: Record<string, string> = {
  string: 'text',
  array: 'list',
  object: 'object',
  boolean: 'true or false',
};

const isNull = (schema: Schema): boolean => schema.type === 'null';
const alternatives = (schema: Schema): Schema[] | undefined => schema.anyOf ?? schema.oneOf;

/** The type in a few words, for example `list of AlertRule or null`. */
export function typeText(document: ApiDocument, schema: Schema): string {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) {
    const target = lookUp<Schema>(document, { $ref: schema.$ref ?? '' });
    return target.properties ? name : typeText(document, target);
  }
  const choices = alternatives(schema);
  if (choices) return [...new Set(choices.map((one) => typeText(document, one)))].join(' or ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.type))
    return schema.type.map((type) => typeText(document, { ...schema, type })).join(' or ');
  if (schema.type === 'array') return `list of ${typeText(document, schema.items ?? {})}`;
  const values = valueSchema(schema);
  if (values) return `map of ${typeText(document, values)}`;
  if (schema.format === 'date-time') return 'moment (ISO 8601)';
  if (schema.type === undefined) return schema.enum ? 'text' : 'anything';
  return WORDS[schema.type] ?? schema.type;
}

/** Of a map, what its values are. */
function valueSchema(schema: Schema): Schema | null {
  if (schema.type !== 'object' || schema.properties) return null;
  if (typeof schema.additionalProperties === 'object') return schema.additionalProperties;
  return Object.values(schema.patternProperties ?? {})[0] ?? null;
}

/** The rules beyond the type. */
export function ruleTexts(document: ApiDocument, given: Schema): string[] {
  const schema = lookUp<Schema>(document, given as Schema & { $ref: string });
  const choice = alternatives(schema)?.filter((one) => !isNull(one));
  if (choice?.length === 1 && choice[0]) return ruleTexts(document, choice[0]);
  const { minLength, maxLength, minimum, maximum, minItems, maxItems } = schema;
  return [
    schema.enum ? `one of ${schema.enum.map(String).join(', ')}` : null,
    range(minLength, maxLength, 'characters'),
    range(minimum, maximum, ''),
    range(minItems, maxItems, 'entries'),
    schema.pattern ? `pattern ${schema.pattern}` : null,
    schema.default === undefined ? null : `${JSON.stringify(schema.default)} where absent`,
    ...(schema.type === 'array' && schema.items
      ? ruleTexts(document, schema.items).map((rule) => `each: ${rule}`)
      : []),
  ].filter((rule) => rule !== null);
}

function range(from: number | undefined, to: number | undefined, unit: string): string | null {
  const number = (value: number) => value.toLocaleString('en');
  const words =
    from !== undefined && to !== undefined
      ? from === to
        ? number(to)
        : `${number(from)} to ${number(to)}`
      : to !== undefined
        ? `at most ${number(to)}`
        : from !== undefined
          ? `at least ${number(from)}`
          : null;
  return words === null ? null : `${words} ${unit}`.trim();
}

export interface FieldOf {
  name: string;
  schema: Schema;
  required: boolean;
}

/** The fields of an object, of the entries of a list or map, or of the one alternative that is no null. */
export function fieldsOf(document: ApiDocument, given: Schema): FieldOf[] {
  const schema = lookUp<Schema>(document, given as Schema & { $ref: string });
  const { properties } = schema;
  if (properties) {
    return Object.entries(properties).map(([name, one]) => ({
      name,
      schema: one,
      required: schema.required?.includes(name) ?? false,
    }));
  }
  const inner = schema.items ?? valueSchema(schema);
  if (inner) return fieldsOf(document, inner);
  const choice = alternatives(schema)?.find((one) => !isNull(one));
  return choice ? fieldsOf(document, choice) : [];
}
