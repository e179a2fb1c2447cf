/** The schema of an engine, made ready for forms: of the reference engine, and in the lay-out that Vector's has. */
import { expect } from 'chai';
import type { Schema } from '../../../controller/pipelines/engine/schema/form-schema.ts';
import { componentsOf } from '../../../controller/pipelines/engine/schema/schema-components.ts';
import type { ComponentType } from '../../../examples/engine/component.ts';
import { schemaDocument } from '../../../examples/engine/config/schema-document.ts';
import { SINKS } from '../../../examples/engine/sinks/index.ts';
import { SOURCES } from '../../../examples/engine/sources/index.ts';
import { TRANSFORMS } from '../../../examples/engine/transforms/index.ts';
import { cpuMs, patient } from '../../support/harness/patience.ts';

const refer = (name: string) => ({ $ref: `#/definitions/${name}` });
const SENSITIVE = 'core::option::Option<vector_common::sensitive_string::SensitiveString>';

/** An alternative as Vector writes it: the reference first, the tag behind it. */
const alternative = (type: string, name: string, title: string) => ({
  allOf: [
    refer(name),
    {
      type: 'object',
      required: ['type'],
      properties: { type: { const: type, description: `The ${type}.` } },
    },
  ],
  description: `Sends to ${title}.`,
  _metadata: { 'docs::human_name': title, logical_name: title },
});

const VECTOR = {
  $schema: 'https://json-schema.org/draft/2019-09/schema',
  allOf: [{ type: 'object', properties: { data_dir: { type: ['string', 'null'] } } }],
  properties: {
    sources: { type: 'object', additionalProperties: refer('vector::config::source::SourceOuter') },
    transforms: { type: 'object', additionalProperties: refer('TransformOuter<String>') },
    sinks: { type: 'object', additionalProperties: refer('SinkOuter<String>') },
  },
  definitions: {
    'vector::config::source::SourceOuter': {
      allOf: [refer('vector::sources::Sources'), { properties: { proxy: refer('Proxy') } }],
    },
    'TransformOuter<String>': {
      allOf: [refer('vector::transforms::Transforms'), { properties: { inputs: refer('Inputs') } }],
    },
    'SinkOuter<String>': {
      type: 'object',
      required: ['inputs'],
      allOf: [
        refer('vector::sinks::Sinks'),
        {
          type: 'object',
          required: ['inputs'],
          properties: { inputs: refer('Inputs'), proxy: refer('Proxy'), uri: { type: 'integer' } },
        },
      ],
    },
    Inputs: { type: 'array', items: { type: 'string' } },
    Proxy: { type: 'object', properties: { http: { type: ['string', 'null'], description: 'A proxy.' } } },
    'vector::sources::Sources': {
      oneOf: [alternative('unit_test', 'Loop', 'Unit test'), alternative('socket', 'Socket', 'Socket')],
    },
    'vector::transforms::Transforms': { oneOf: [alternative('loop', 'Loop', 'Loop')] },
    'vector::sinks::Sinks': { oneOf: [alternative('http', 'Http', 'HTTP')] },
    Socket: {
      description: 'Configuration for the `socket` source.',
      oneOf: [
        {
          allOf: [
            { properties: { mode: { const: 'tcp', description: 'TCP.' } }, required: ['mode'] },
            refer('Tcp'),
          ],
          _metadata: { logical_name: 'Tcp' },
        },
        {
          properties: { mode: { const: 'udp' }, size: { type: 'integer' } },
          required: ['mode'],
          type: 'object',
        },
      ],
    },
    Tcp: { type: 'object', properties: { address: { type: 'string' } }, required: ['address'] },
    Loop: {
      type: 'object',
      properties: { name: { type: 'string' }, next: { oneOf: [{ type: 'null' }, refer('Loop')] } },
    },
    [SENSITIVE]: { type: ['string', 'null'], description: 'A credential.' },
    Http: {
      type: 'object',
      required: ['uri', 'secret_door'],
      properties: {
        uri: { type: 'string', _metadata: { 'docs::examples': 'https://a', 'docs::templateable': true } },
        token: { ...refer(SENSITIVE), description: 'The token.' },
        secret_door: { type: 'boolean', _metadata: { 'docs::hidden': true } },
        source: { type: ['string', 'null'], _metadata: { 'docs::syntax_override': 'remap_program' } },
        method: {
          default: 'post',
          oneOf: [
            { const: 'post', description: 'By POST.', _metadata: { logical_name: 'Post' } },
            { const: 'put', description: 'By PUT.' },
          ],
          _metadata: { 'docs::enum_tagging': 'external' },
        },
        timeout_secs: {
          type: 'integer',
          minimum: 0,
          maximum: 9_007_199_254_740_991,
          not: { const: 0 },
          _metadata: { 'docs::type_unit': 'seconds', 'docs::advanced': true, 'docs::examples': [10, 20] },
        },
        paths: { type: 'array', items: { type: 'string' }, _metadata: { 'docs::examples': ['a', 'b'] } },
        headers: {
          type: 'object',
          additionalProperties: { type: 'string' },
          _metadata: { 'docs::additional_props_description': 'A header.' },
        },
        encoding: {
          allOf: [
            {
              oneOf: [
                { type: 'object', properties: { codec: { const: 'json' } }, required: ['codec'] },
                {
                  type: 'object',
                  properties: { codec: { const: 'csv' }, csv: refer('Tcp') },
                  required: ['codec', 'csv'],
                },
              ],
            },
            {
              type: 'object',
              properties: { only_fields: { type: ['array', 'null'], items: { type: 'string' } } },
            },
          ],
          description: 'The encoding.',
        },
        compression: { anyOf: [{ not: { required: ['algorithm'] } }, { type: 'string', enum: ['gzip'] }] },
        __proto__x: { type: 'string' },
        constructor: { type: 'string' },
      },
    },
  },
};

function schemaOf(document: object, type: string): Schema & { properties: Record<string, Schema> } {
  const found = componentsOf(document).find(({ component }) => component.type === type);
  return JSON.parse(found?.schema ?? 'null');
}

describe('the components of an engine', () => {
  it('are those that the reference engine has', () => {
    const names = componentsOf(schemaDocument()).map(
      ({ component }) => `${component.kind} ${component.type}`,
    );
    const expected = Object.entries({ SOURCE: SOURCES, TRANSFORM: TRANSFORMS, SINK: SINKS }).flatMap(
      ([kind, registry]) => Object.keys(registry).map((type) => `${kind} ${type}`),
    );
    expect(names).to.have.members(expected);
  });

  it('have each option of the reference engine, with its default and whether it is required', () => {
    const registries: Record<string, Record<string, ComponentType<unknown>>> = {
      SOURCE: SOURCES,
      TRANSFORM: TRANSFORMS,
      SINK: SINKS,
    };
    const found = componentsOf(schemaDocument());
    for (const [kind, type, { options, title, about }] of Object.entries(registries).flatMap(
      ([kind, registry]) => Object.entries(registry).map(([type, one]) => [kind, type, one] as const),
    )) {
      const one = found.find(({ component }) => component.type === type && component.kind === kind);
      const schema = JSON.parse(one?.schema ?? '{}');
      expect(schema).to.deep.include({ type: 'object', title, description: about });
      expect(schema.properties).to.include.keys(Object.keys(options));
      expect(schema.properties).not.to.have.any.keys('type', 'inputs');
      const required = Object.entries(options).filter(([, { presence }]) => presence === 'required');
      expect(schema.required ?? []).to.have.members(required.map(([name]) => name));
      for (const [name, { fallback, about: description }] of Object.entries(options)) {
        expect(schema.properties[name], `${type} ${name}`).to.deep.include({ description });
        expect(schema.properties[name].default, `${type} ${name}`).to.deep.equal(fallback);
      }
    }
  });

  it('are found in the lay-out of Vector, without those of its own tests', () => {
    expect(componentsOf(VECTOR).map(({ component }) => component)).to.deep.equal([
      { kind: 'SOURCE', type: 'socket', title: 'Socket', description: 'Sends to Socket.' },
      { kind: 'TRANSFORM', type: 'loop', title: 'Loop', description: 'Sends to Loop.' },
      { kind: 'SINK', type: 'http', title: 'HTTP', description: 'Sends to HTTP.' },
    ]);
  });

  it('are found by the names of their definitions where the top tells nothing', () => {
    const { definitions } = VECTOR;
    expect(componentsOf({ definitions })).to.have.length(3);
  });

  it('are an error where there are none', () => {
    expect(() => componentsOf({ definitions: {} })).to.throw('the schema tells of no sources');
    expect(() => componentsOf([])).to.throw('no JSON object');
  });
});

describe('the schema for a form', () => {
  const http = schemaOf(VECTOR, 'http');

  it('holds no reference, no metadata and no null', () => {
    for (const { schema } of componentsOf(VECTOR)) {
      expect(schema).not.to.match(/"\$ref"|"_metadata"|"null"|"allOf"/);
    }
  });

  it('leaves out what the graph knows itself and what is hidden, from what is required too', () => {
    expect(http.properties).not.to.have.any.keys('type', 'inputs', 'secret_door', 'constructor');
    expect(http.required).to.deep.equal(['uri']);
    expect(http.additionalProperties).to.equal(false);
  });

  it('has what all components of a kind share, behind the own options and as advanced', () => {
    expect(http.properties.uri).to.deep.include({ type: 'string' });
    expect(http.properties.proxy).to.deep.equal({
      type: 'object',
      properties: { http: { type: 'string', description: 'A proxy.' } },
      'x-advanced': true,
    });
    expect(Object.keys(http.properties).at(-1)).to.equal('proxy');
  });

  it('tells what a value is good for', () => {
    expect(http.properties.uri).to.deep.equal({
      type: 'string',
      examples: ['https://a'],
      'x-template': true,
    });
    expect(http.properties.token).to.deep.equal({
      type: 'string',
      description: 'The token.',
      'x-sensitive': true,
    });
    expect(http.properties.source).to.deep.equal({ type: 'string', 'x-language': 'vrl' });
    expect(http.properties.timeout_secs).to.deep.equal({
      type: 'integer',
      minimum: 1,
      examples: [10, 20],
      'x-unit': 'seconds',
      'x-advanced': true,
    });
    expect(http.properties.paths).to.deep.include({ examples: [['a', 'b']] });
    expect(http.properties.headers?.additionalProperties).to.deep.equal({
      type: 'string',
      description: 'A header.',
    });
  });

  it('makes a list of words of alternatives that are words', () => {
    expect(http.properties.method).to.deep.equal({
      type: 'string',
      enum: ['post', 'put'],
      enumDescriptions: ['By POST.', 'By PUT.'],
      default: 'post',
    });
    expect(http.properties.compression).to.deep.equal({ type: 'string', enum: ['gzip'] });
  });

  it('puts what alternatives share into each of them, and gives each a title', () => {
    const { oneOf } = http.properties.encoding as { oneOf: Schema[] };
    expect(oneOf.map(({ title }) => title)).to.deep.equal(['json', 'csv']);
    expect(oneOf.map(({ required }) => required)).to.deep.equal([['codec'], ['codec', 'csv']]);
    for (const { properties } of oneOf) expect(properties).to.include.keys('codec', 'only_fields');
  });

  it('keeps the choice of a component that has one at its top', () => {
    const { oneOf, type } = schemaOf(VECTOR, 'socket') as unknown as { oneOf: Schema[]; type: string };
    expect(type).to.equal('object');
    expect(oneOf.map(({ title }) => title)).to.deep.equal(['tcp', 'udp']);
    expect(oneOf[0]?.properties).to.have.all.keys('mode', 'address', 'proxy');
    expect(oneOf[0]?.required).to.deep.equal(['mode', 'address']);
  });

  it('ends where a definition comes back to itself', () => {
    const { next } = schemaOf(VECTOR, 'loop').properties;
    expect(next).to.deep.equal({ type: 'object', additionalProperties: true, 'x-cut': true });
  });

  it('is bounded, however large the schema is', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`option_${at}`, refer('Level1')] as const),
    );
    const definitions: Record<string, object> = { ...VECTOR.definitions };
    for (let level = 1; level < 20; level += 1) {
      definitions[`Level${level}`] = {
        type: 'object',
        description: 'x'.repeat(10_000),
        properties: Object.fromEntries(
          Array.from({ length: 50 }, (_, at) => [`option_${at}`, refer(`Level${level + 1}`)] as const),
        ),
      };
    }
    definitions.Level20 = { type: 'string' };
    definitions.Http = { type: 'object', properties: wide };
    const started = cpuMs();
    const found = componentsOf({ ...VECTOR, definitions }).find(({ component }) => component.type === 'http');
    expect(cpuMs() - started).to.be.below(patient(2_000));
    expect(found?.schema.length).to.be.below(256 * 1024 + 1);
    expect(found?.schema).to.include('"x-cut":true');
    const { properties } = JSON.parse(found?.schema ?? '{}');
    expect(Object.keys(properties)).to.include.members(['option_0', 'option_49', 'proxy']);
  });
});
