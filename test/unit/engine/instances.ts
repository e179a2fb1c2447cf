/** Random values of which a JSON Schema says that they are good, for the part of JSON Schema that the engine uses. */
import fc from 'fast-check';
import type { Json, JsonSchema } from '../../../examples/engine/config/shape.ts';

/** Texts that some option wants, beside any. */
const TEXTS = fc.oneof(
  fc.constantFrom('', ',', '.a', 'true', '127.0.0.1:0', '/tmp/x', 'http://localhost', '{{ host }}'),
  fc.string({ maxLength: 8 }),
);

export function instanceOf(schema: JsonSchema, root: JsonSchema): fc.Arbitrary<Json> {
  const of = (part: unknown) => instanceOf(part as JsonSchema, root);
  const list = (name: string) => schema[name] as readonly JsonSchema[];
  if ('$ref' in schema) return of(definition(String(schema.$ref), root));
  if ('const' in schema) return fc.constant(schema.const as Json);
  if ('enum' in schema) return fc.constantFrom(...(schema.enum as Json[]));
  if ('oneOf' in schema) return fc.oneof(...list('oneOf').map(of));
  if ('allOf' in schema) {
    const [first, ...others] = list('allOf').map(of);
    if (others.length === 0) return first!;
    return fc.tuple(first!, ...others).map((parts) => Object.assign({}, ...parts) as Json);
  }
  switch (schema.type) {
    case 'string':
      return TEXTS;
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: Number(schema.minimum ?? -1000), max: Number(schema.maximum ?? 100_000) });
    case 'number':
      return fc.double({
        noNaN: true,
        min: Number(schema.minimum ?? schema.exclusiveMinimum ?? -1000),
        max: Number(schema.maximum ?? 100_000),
        minExcluded: 'exclusiveMinimum' in schema,
      });
    case 'array':
      return fc.array(of(schema.items), { minLength: Number(schema.minItems ?? 0), maxLength: 3 });
    case 'object': {
      if (schema.additionalProperties) {
        return fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), of(schema.additionalProperties), {
          maxKeys: 3,
          noNullPrototype: true,
        });
      }
      const properties = Object.entries((schema.properties ?? {}) as JsonSchema);
      return fc.record(Object.fromEntries(properties.map(([name, part]) => [name, of(part)])), {
        requiredKeys: (schema.required ?? []) as string[],
        noNullPrototype: true,
      });
    }
    default:
      return fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
  }
}

export function definition(reference: string, root: JsonSchema): JsonSchema {
  const found = (root.definitions as JsonSchema)[reference.replace('#/definitions/', '')];
  if (found === undefined) throw new Error(`${reference} is not defined`);
  return found as JsonSchema;
}

/** The same value with one thing in it changed: something left out, put in, or replaced. Never by null, which means absent. */
export function slightlyWrong(value: Json): fc.Arbitrary<Json> {
  const odd = fc.constantFrom<Json>('odd', -1, 0.5, true, [], ['odd'], {}, { odd: 1 });
  const places = pathsOf(value);
  return fc
    .tuple(fc.constantFrom(...places), fc.constantFrom('drop', 'add', 'replace'), odd)
    .map(([path, change, other]) => {
      const copy = structuredClone(value) as Json;
      const parent = path.slice(0, -1).reduce<unknown>((at, step) => (at as never)[step], copy);
      const last = path.at(-1);
      if (last === undefined) return Object.assign({}, copy, { odd: other }) as Json;
      const holder = parent as Record<string, Json>;
      if (change === 'drop' && !Array.isArray(parent)) delete holder[last];
      else if (change === 'add' && !Array.isArray(parent)) holder.odd = other;
      else holder[last] = other;
      return copy;
    });
}

function pathsOf(value: Json): string[][] {
  if (typeof value !== 'object' || value === null) return [[]];
  const below = Object.entries(value).flatMap(([step, part]) =>
    pathsOf(part as Json).map((path) => [step, ...path]),
  );
  return [[], ...below];
}
