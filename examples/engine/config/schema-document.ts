/** The whole configuration as one JSON Schema, in the lay-out of Vector's `generate-schema`: tools read both alike. */
import type { ComponentType } from '../component.ts';
import { SINKS } from '../sinks/index.ts';
import { SOURCES } from '../sources/index.ts';
import { TRANSFORMS } from '../transforms/index.ts';
import { COMMON_OPTIONS } from './common-options.ts';
import { GLOBAL_OPTIONS } from './global-options.ts';
import { type Options, optionsSchema } from './options.ts';
import type { Define, JsonSchema } from './shape.ts';

interface Kind {
  key: 'sources' | 'transforms' | 'sinks';
  word: 'source' | 'transform' | 'sink';
  registry: Record<string, ComponentType<unknown>>;
  common: Options;
  /** The definition that is one of all types. */
  union: string;
  /** The definition that adds what all types share. */
  outer: string;
}

const KINDS: readonly Kind[] = [
  {
    key: 'sources',
    word: 'source',
    registry: SOURCES,
    common: COMMON_OPTIONS.sources,
    union: 'vector::sources::Sources',
    outer: 'vector::config::source::SourceOuter',
  },
  {
    key: 'transforms',
    word: 'transform',
    registry: TRANSFORMS,
    common: COMMON_OPTIONS.transforms,
    union: 'vector::transforms::Transforms',
    outer: 'vector::config::transform::TransformOuter<alloc::string::String>',
  },
  {
    key: 'sinks',
    word: 'sink',
    registry: SINKS,
    common: COMMON_OPTIONS.sinks,
    union: 'vector::sinks::Sinks',
    outer: 'vector::config::sink::SinkOuter<alloc::string::String>',
  },
];

/** Definitions are under `definitions`, as Vector's are, whatever the draft says. */
export function schemaDocument(): JsonSchema {
  const definitions: Record<string, JsonSchema> = {};
  const define: Define = (shape) => {
    if (shape.name === undefined) return shape.schema(define);
    definitions[shape.name] ??= shape.schema(define);
    return refer(shape.name);
  };
  const global = optionsSchema(GLOBAL_OPTIONS, define);
  const components = Object.fromEntries(
    KINDS.map((kind) => {
      addKind(kind, definitions, define);
      const map = { type: 'object', additionalProperties: refer(kind.outer), default: {} };
      return [kind.key, { ...map, description: `All ${kind.key}, by their ids.` }] as const;
    }),
  );
  return {
    $schema: 'https://json-schema.org/draft/2019-09/schema',
    description: 'A complete configuration.',
    type: 'object',
    properties: { ...components, ...(global.properties as JsonSchema) },
    unevaluatedProperties: false,
    definitions: Object.fromEntries(Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function refer(name: string): JsonSchema {
  return { $ref: `#/definitions/${name}` };
}

function addKind(kind: Kind, definitions: Record<string, JsonSchema>, define: Define): void {
  const { key, word, registry, common, union, outer } = kind;
  const cases = Object.entries(registry)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([type, component]) => {
      const name = `headgate_engine::${key}::${type}::Config`;
      definitions[name] = {
        ...optionsSchema(component.options, define),
        description: `Configuration for the \`${type}\` ${word}.`,
        _metadata: { 'docs::component_type': word, 'docs::component_name': type },
      };
      const tag = { const: type, description: component.about };
      return {
        allOf: [refer(name), { type: 'object', properties: { type: tag }, required: ['type'] }],
        description: component.about,
        _metadata: { 'docs::human_name': component.title, logical_name: component.title.replaceAll(' ', '') },
      };
    });
  definitions[union] = {
    oneOf: cases,
    description: `Configurable ${key}.`,
    _metadata: { 'docs::enum_tagging': 'internal', 'docs::enum_tag_field': 'type' },
  };
  definitions[outer] = {
    allOf: [refer(union), optionsSchema(common, define)],
    description: `Fully resolved ${word} component.`,
    unevaluatedProperties: false,
    _metadata: { 'docs::component_base_type': word },
  };
}
