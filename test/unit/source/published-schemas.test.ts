import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { parse } from 'yaml';
import { publishedSchemas } from '../../../schemas/manifests/index.ts';

const MANIFEST = `
apiVersion: headgate/v1
kind: Pipeline
metadata: { name: one }
spec:
  description: { $file: ./about.txt }
  transforms: { t: { type: remap, inputs: [a], source: { $file: ../a.vrl } } }
  tests: [{ name: t, component: t, input: { $file: a.json }, expect: { $file: a.vrl } }]
`;

describe('The published schemas', () => {
  const published = publishedSchemas('https://gate.example.org/');

  it('are one for each kind, with their address', () => {
    expect(Object.keys(published)).to.deep.equal([
      'pipeline',
      'alert-rule',
      'node-group',
      'silence',
      'webhook-endpoint',
      'environment',
      'repository',
    ]);
    expect(published.pipeline).to.include({
      $id: 'https://gate.example.org/schemas/v1/pipeline.json',
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'Headgate Pipeline',
    });
  });

  it('are valid, admit $file for texts, and refuse unknown fields', () => {
    const validate = new Ajv2020({ strict: false }).compile(published.pipeline ?? {});
    const manifest = parse(MANIFEST);
    expect(validate(manifest), JSON.stringify(validate.errors)).to.equal(true);
    expect(validate({ ...manifest, spec: { ...manifest.spec, deployd: true } })).to.equal(false);
    expect(validate({ ...manifest, 'x-anchors': [1] })).to.equal(true);
    expect(validate({ ...manifest, anchors: [1] })).to.equal(false);
  });

  it('describe every field', () => {
    const missing: string[] = [];
    const look = (schema: unknown, path: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const properties = (schema as { properties?: Record<string, object> }).properties ?? {};
      for (const [name, field] of Object.entries(properties)) {
        if (!('description' in field)) missing.push(`${path}.${name}`);
      }
      for (const [key, inner] of Object.entries(schema)) look(inner, `${path}.${key}`);
    };
    for (const [name, schema] of Object.entries(published)) look(schema, name);
    expect(missing).to.deep.equal([]);
  });
});
