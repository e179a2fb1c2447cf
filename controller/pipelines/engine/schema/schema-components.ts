/** The components that the schema of an engine tells of, in the lay-out that Vector's `generate-schema` has. */
import { definitionOf, FormSchemas, isSchema, metadataOf, type Schema, schemasOf } from './form-schema.ts';

export type ComponentKind = 'SOURCE' | 'TRANSFORM' | 'SINK';

export interface KnownComponent {
  kind: ComponentKind;
  type: string;
  title: string;
  description: string;
}

const SECTIONS = { SOURCE: 'sources', TRANSFORM: 'transforms', SINK: 'sinks' } as const;
const UNIONS = {
  SOURCE: 'vector::sources::Sources',
  TRANSFORM: 'vector::transforms::Transforms',
  SINK: 'vector::sinks::Sinks',
} as const;
/** Of the engine's own unit tests, and not for pipelines. */
const INTERNAL = /^unit_test/;
/** Those the graph knows itself. */
const LEFT_OUT = ['type', 'inputs'];
const MAX_REFERENCES = 8;
/** Levels of options inside of options: as many as there is room for. */
const DEPTHS = [8, 5, 3, 2, 1, 0];
const SHARED_DEPTH = 5;
const MAX_COMPONENTS = 1_000;
const MAX_SCHEMA_CHARS = 256 * 1024;

/** For a component of which nothing else is known. */
export function anyOptions({ title, description }: KnownComponent): string {
  return JSON.stringify({ type: 'object', title, description, additionalProperties: true, 'x-cut': true });
}

/** Every component with the schema of its options as JSON text, by kind and then in the engine's order. */
export function componentsOf(document: unknown): { component: KnownComponent; schema: string }[] {
  if (!isSchema(document)) throw new Error('the schema is no JSON object');
  const definitions = isSchema(document.definitions) ? document.definitions : document.$defs;
  if (!isSchema(definitions)) throw new Error('the schema has no definitions');
  return (Object.keys(SECTIONS) as ComponentKind[]).flatMap((kind) => {
    const { cases, common } = sectionOf(document, definitions, kind);
    return cases.slice(0, MAX_COMPONENTS).flatMap((entry) => {
      const component = componentOf(entry, kind, definitions);
      if (!component || INTERNAL.test(component.type)) return [];
      return [{ component, schema: boundedOptions(entry, common, component, definitions) }];
    });
  });
}

/** The alternatives of a section, and what is added to each of them. */
function sectionOf(
  document: Schema,
  definitions: Schema,
  kind: ComponentKind,
): { cases: Schema[]; common: Schema[] } {
  const section = flatten(document, definitions)
    .flatMap((part) => (isSchema(part.properties) ? [part.properties[SECTIONS[kind]]] : []))
    .find(isSchema);
  const values = section && flatten(section, definitions).find((part) => isSchema(part.additionalProperties));
  const parts = values ? flatten(values.additionalProperties as Schema, definitions) : [];
  const union = parts.find((part) => Array.isArray(part.oneOf)) ?? definitions[UNIONS[kind]];
  if (!isSchema(union)) throw new Error(`the schema tells of no ${SECTIONS[kind]}`);
  return { cases: schemasOf(union.oneOf), common: parts.filter((part) => part !== union) };
}

/** A schema with what it refers to and is made of, each by itself. */
function flatten(schema: Schema, definitions: Schema, depth = 0): Schema[] {
  if (depth > MAX_REFERENCES) return [];
  const referred = definitionOf(schema.$ref, definitions);
  const parts = [...(referred ? [referred] : []), ...schemasOf(schema.allOf)];
  return [schema, ...parts.flatMap((part) => flatten(part, definitions, depth + 1))];
}

function componentOf(one: Schema, kind: ComponentKind, definitions: Schema): KnownComponent | undefined {
  const parts = flatten(one, definitions);
  const tag = parts.map(({ properties }) => isSchema(properties) && properties.type).find(isSchema);
  const type = tag?.const;
  if (typeof type !== 'string' || !/^[\w-]{1,100}$/.test(type)) return undefined;
  const titles = parts.flatMap((part) => [metadataOf(part)['docs::human_name'], part.title]);
  const descriptions = [one.description, tag?.description, ...parts.map(({ description }) => description)];
  const text = (found: unknown[]) =>
    found.find((value) => typeof value === 'string' && value !== '') as string;
  return {
    kind,
    type,
    title: (text(titles) ?? type).slice(0, 200),
    description: (text(descriptions) ?? '').slice(0, 2_000),
  };
}

function boundedOptions(
  one: Schema,
  common: readonly Schema[],
  component: KnownComponent,
  definitions: Schema,
): string {
  for (const depth of DEPTHS) {
    const forms = new FormSchemas(definitions, depth);
    const own = withoutTag(forms.of(one));
    if (forms.isOver) continue;
    const schema = JSON.stringify(optionsOf(own, common, component, definitions));
    if (schema.length <= MAX_SCHEMA_CHARS) return schema;
  }
  return anyOptions(component);
}

function optionsOf(
  own: Schema,
  common: readonly Schema[],
  { title, description }: KnownComponent,
  definitions: Schema,
): Schema {
  const shared = common.flatMap((part) => {
    if (part.$ref !== undefined || part.allOf !== undefined || !isSchema(part.properties)) return [];
    const { properties } = withoutTag(new FormSchemas(definitions, SHARED_DEPTH).of(part));
    return Object.entries((properties ?? {}) as Record<string, Schema>).map(
      ([name, option]) => [name, { ...option, 'x-advanced': true }] as const,
    );
  });
  const add = (schema: Schema): Schema => {
    const properties = (schema.properties ?? {}) as Schema;
    const missing = shared.filter(([name]) => !Object.hasOwn(properties, name));
    return { ...schema, type: 'object', properties: { ...properties, ...Object.fromEntries(missing) } };
  };
  const whole = Array.isArray(own.oneOf)
    ? { ...own, type: 'object', oneOf: (own.oneOf as Schema[]).map((arm) => add(withoutTag(arm))) }
    : add(own);
  const isOpen = isSchema(own.additionalProperties) || own['x-cut'] === true;
  return { ...whole, title, description, ...(!isOpen && { additionalProperties: false }) };
}

function withoutTag(schema: Schema): Schema {
  if (!isSchema(schema.properties)) return schema;
  const properties = Object.fromEntries(
    Object.entries(schema.properties).filter(([name]) => !LEFT_OUT.includes(name)),
  );
  const { required, ...rest } = schema;
  const names = (required as string[] | undefined)?.filter((name) => !LEFT_OUT.includes(name)) ?? [];
  return { ...rest, properties, ...(names.length > 0 && { required: names }) };
}
