/**
 * What procedures answer, in superjson's form: JSON, and beside it which texts are dates. By hand, because superjson
 * refuses every object that has a key like `constructor`, and manifests and labels may have one; and by the schema of
 * what is answered, since a list of thousands has few places where a date may stand.
 */
import type { SuperJSONResult } from 'superjson';
import type { TSchema } from 'typebox';

type Found = Record<string, ['Date']>;
type Walk = (value: unknown, path: string, found: Found) => void;

/** Known until it is sent; one that several callers share is looked through once. */
const answers = new WeakMap<object, { schema: TSchema; written?: SuperJSONResult }>();

/** Remembers the schema of an answer. */
export function withSchema<T>(schema: TSchema, answer: T): T {
  if (typeof answer === 'object' && answer !== null && answers.get(answer)?.schema !== schema)
    answers.set(answer, { schema });
  return answer;
}

export function datedJson(value: unknown): SuperJSONResult {
  const answer = typeof value === 'object' && value !== null ? answers.get(value) : undefined;
  if (!answer) return written(value, everywhere);
  answer.written ??= written(value, walkOf(answer.schema));
  return answer.written;
}

function written(value: unknown, walk: Walk | null): SuperJSONResult {
  const values: Found = {};
  walk?.(value, '', values);
  const json = value as SuperJSONResult['json'];
  return Object.keys(values).length === 0 ? { json } : { json, meta: { values, v: 1 } };
}

const under = (path: string, key: string) => {
  const step =
    key.includes('.') || key.includes('\\') ? key.replaceAll('\\', '\\\\').replaceAll('.', '\\.') : key;
  return path === '' ? step : `${path}.${step}`;
};

const noteDate: Walk = (value, path, found) => {
  if (value instanceof Date) found[path] = ['Date'];
};

const everywhere: Walk = (value, path, found) => {
  if (typeof value !== 'object' || value === null) return;
  if (value instanceof Date) return noteDate(value, path, found);
  for (const [key, item] of Object.entries(value)) {
    if (typeof item === 'object' && item !== null) everywhere(item, under(path, key), found);
  }
};

interface JsonSchema {
  type?: unknown;
  format?: unknown;
  enum?: unknown;
  const?: unknown;
  anyOf?: TSchema[];
  items?: TSchema;
  properties?: Record<string, TSchema>;
  patternProperties?: Record<string, TSchema>;
  additionalProperties?: unknown;
}

const walks = new WeakMap<object, { walk: Walk | null }>();

/** Where a value of the schema may hold dates; null for nowhere. */
function walkOf(schema: TSchema): Walk | null {
  const known = walks.get(schema);
  if (known) return known.walk;
  const walk = makeWalk(schema as JsonSchema);
  walks.set(schema, { walk });
  return walk;
}

function makeWalk(schema: JsonSchema): Walk | null {
  if (schema.format === 'date-time') return noteDate;
  if (schema.anyOf) {
    const every = schema.anyOf.map(walkOf).filter((walk) => walk !== null);
    return every.length < 2
      ? (every[0] ?? null)
      : (value, path, found) => {
          for (const walk of every) walk(value, path, found);
        };
  }
  if (schema.type === 'array') {
    const item = schema.items ? walkOf(schema.items) : everywhere;
    return (
      item &&
      ((value, path, found) => {
        if (!Array.isArray(value)) return;
        for (let index = 0; index < value.length; index += 1)
          item(value[index], under(path, String(index)), found);
      })
    );
  }
  if (schema.type === 'object' && schema.properties) return walkOfFields(schema.properties);
  if (schema.type === 'object' && schema.patternProperties) {
    const [values] = Object.values(schema.patternProperties);
    const each = values ? walkOf(values) : everywhere;
    return (
      each &&
      ((value, path, found) => {
        if (typeof value !== 'object' || value === null) return;
        for (const [key, item] of Object.entries(value)) each(item, under(path, key), found);
      })
    );
  }
  return schema.type === undefined && schema.enum === undefined && schema.const === undefined
    ? everywhere
    : null;
}

function walkOfFields(properties: Record<string, TSchema>): Walk | null {
  const fields = Object.entries(properties).flatMap(([key, property]): [string, Walk][] => {
    const walk = walkOf(property);
    return walk ? [[key, walk]] : [];
  });
  if (fields.length === 0) return null;
  return (value, path, found) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, walk] of fields) {
      const item = (value as Record<string, unknown>)[key];
      if (item !== null && item !== undefined) walk(item, under(path, key), found);
    }
  };
}
