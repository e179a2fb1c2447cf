/** The schema that `generate-schema` prints, and what the engine takes: neither may know what the other does not. */
import { Ajv2019 } from 'ajv/dist/2019.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { compile } from '../../../examples/engine/config/compile.ts';
import { ConfigError } from '../../../examples/engine/config/config-error.ts';
import { mergeConfigs } from '../../../examples/engine/config/merge.ts';
import { schemaDocument } from '../../../examples/engine/config/schema-document.ts';
import type { Json, JsonSchema } from '../../../examples/engine/config/shape.ts';
import type { Table } from '../../../examples/engine/config/table.ts';
import { definition, instanceOf, slightlyWrong } from './instances.ts';

const root = schemaDocument();
const ajv = new Ajv2019({ strictTypes: false, keywords: ['_metadata'] });
const isValid = ajv.compile(root);
/** The same but for options that are not described. */
const isOpenValid = ajv.compile(
  JSON.parse(
    JSON.stringify(root, (key, value: unknown) => (key === 'unevaluatedProperties' ? undefined : value)),
  ),
);

/** What is about the form of options, and not about what they mean: no schema tells a template from another text. */
const isStructural = (message: string) =>
  /^(?:unknown (?:field|variant) |invalid type: |missing field |option "(?!templates ))/.test(message);

function complaints(config: Json): string[] {
  try {
    compile(mergeConfigs([config as Table]), {});
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.messages;
    throw error;
  }
}

/** A configuration around one component. */
function around(key: string, component: Json): Json {
  const config = {
    sources: { zz_in: { type: 'demo_logs', format: 'json' } },
    sinks: { zz_out: { type: 'blackhole', inputs: ['zz_in'] } },
  } as Record<string, Record<string, Json>>;
  config[key] = { ...config[key], one: component };
  return config;
}

const KINDS = [
  { key: 'sources', union: 'vector::sources::Sources', outer: 'vector::config::source::SourceOuter' },
  {
    key: 'transforms',
    union: 'vector::transforms::Transforms',
    outer: 'vector::config::transform::TransformOuter<alloc::string::String>',
  },
  {
    key: 'sinks',
    union: 'vector::sinks::Sinks',
    outer: 'vector::config::sink::SinkOuter<alloc::string::String>',
  },
];

const CASES = KINDS.flatMap(({ key, union, outer }) => {
  const [, common] = definition(outer, root).allOf as readonly JsonSchema[];
  return (definition(union, root).oneOf as readonly JsonSchema[]).map((one) => {
    const [config, tag] = one.allOf as readonly [JsonSchema, JsonSchema];
    const { type } = tag.properties as { type: { const: string } };
    return { key, type: type.const, config, schema: { allOf: [one, common!] } };
  });
});

describe('the schema of the configuration', () => {
  it('has all 16 components with a title, a description and what they are', () => {
    expect(CASES.map(({ key, type }) => `${key} ${type}`)).to.have.length(16);
    for (const { union } of KINDS) {
      for (const one of definition(union, root).oneOf as readonly JsonSchema[]) {
        expect(one.description).to.match(/\.$/);
        expect(one._metadata).to.include.keys('docs::human_name', 'logical_name');
      }
    }
    for (const { key, type, config } of CASES) {
      const { _metadata: metadata } = definition(String(config.$ref), root);
      expect(metadata).to.deep.equal({
        'docs::component_type': key.slice(0, -1),
        'docs::component_name': type,
      });
    }
  });

  it('says of every option what it is for', () => {
    const mute = CASES.flatMap(({ key, type, config }) => {
      const { properties } = definition(String(config.$ref), root) as {
        properties: Record<string, JsonSchema>;
      };
      return Object.entries(properties)
        .filter(([, { description }]) => !/^[A-Z].*\.$/s.test(String(description)))
        .map(([name]) => `${key} ${type} ${name}`);
    });
    expect(mute).to.deep.equal([]);
  });

  it('gives examples and defaults that are good themselves', () => {
    const wrong = CASES.flatMap(({ key, type, config }) => {
      const { properties } = definition(String(config.$ref), root) as {
        properties: Record<string, JsonSchema>;
      };
      return Object.entries(properties).flatMap(
        ([name, { default: fallback, _metadata: metadata, ...option }]) => {
          const check = ajv.compile({ ...option, definitions: root.definitions });
          const shown = (metadata as JsonSchema | undefined)?.['docs::examples'] as Json[] | undefined;
          const values = [...(fallback === undefined ? [] : [fallback]), ...(shown ?? [])];
          return values
            .filter((value) => !check(value))
            .map((value) => `${key} ${type} ${name}: ${JSON.stringify(value)}`);
        },
      );
    });
    expect(wrong).to.deep.equal([]);
  });

  for (const { key, type, schema } of CASES) {
    it(`and the engine take the same options of ${key} ${type}`, () => {
      fc.assert(
        fc.property(instanceOf(schema, root), (component) => {
          const config = around(key, component);
          expect(isValid(config), JSON.stringify(isValid.errors)).to.equal(true);
          expect(complaints(config).filter(isStructural)).to.deep.equal([]);
        }),
        { numRuns: 60, seed: 7 },
      );
    });

    it(`and the engine refuse the same options of ${key} ${type}`, () => {
      fc.assert(
        fc.property(instanceOf(schema, root).chain(slightlyWrong), (component) => {
          const config = around(key, component);
          const found = complaints(config);
          // Vector's parser passes over options that its schema closes the object to; compile.test.ts says where.
          if (!isOpenValid(config)) expect(found, 'refused by the schema alone').not.to.deep.equal([]);
          else if (isValid(config))
            expect(found.filter(isStructural), 'refused by the engine alone').to.deep.equal([]);
        }),
        { numRuns: 120, seed: 7 },
      );
    });
  }

  it('and the engine take the same settings', () => {
    const { sources: _s, transforms: _t, sinks: _k, ...settings } = root.properties as JsonSchema;
    const schema = { type: 'object', properties: settings };
    fc.assert(
      fc.property(instanceOf(schema, root), (config) => {
        expect(isValid(config), JSON.stringify(isValid.errors)).to.equal(true);
        expect(complaints(config).filter(isStructural)).to.deep.equal([]);
      }),
      { numRuns: 100, seed: 7 },
    );
  });
});
