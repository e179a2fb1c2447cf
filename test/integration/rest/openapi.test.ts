/** The description of the HTTP interface: complete, true, and without a finding of the usual linters. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as formats from 'ajv-formats';
import { expect } from 'chai';
import { describeApi } from '../../../api/openapi/document.ts';
import { SCHEMA_MODULES } from '../../../api/openapi/named-schemas.ts';
import { REST_ROWS } from '../../../api/rest/rows.ts';
import { openApiTools } from '../../support/clients/openapi-tools.ts';
import { OPERATIONS } from '../../support/procedures/operations.ts';

interface DescribedOperation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: Record<string, unknown>[];
  parameters?: { $ref?: string; name?: string; in?: string }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, unknown>;
  'x-permission'?: string;
  'x-role'?: string;
}
interface Document {
  openapi: string;
  info: Record<string, unknown>;
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  'x-tagGroups': { name: string; tags: string[] }[];
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
}

const run = promisify(execFile);

/** An object that stands where it is used, or a list of such. */
interface Inline {
  properties?: object;
  items?: { properties?: object };
}

/**
 * Options of the engine's components and their schemas; what an audit event changed and tells; what superjson annotates; what
 * errors carry beside their sentence.
 */
const OPEN_OBJECTS = [
  'GlobalConfig',
  'Matchers',
  'RestError',
  'config',
  'data',
  'diff',
  'event',
  'meta',
  'metadata',
  'schema',
];

/** Any field may stand there. */
const isOpen = (schema: object): boolean => {
  if (!('additionalProperties' in schema)) return true;
  const { additionalProperties: more } = schema;
  return more === true || (typeof more === 'object' && more !== null && Object.keys(more).length === 0);
};

describe('the OpenAPI description', () => {
  const text = JSON.stringify(
    describeApi({ baseUrl: 'http://localhost:8080', cookieName: 'headgate.session-token' }),
  );
  const document = JSON.parse(text) as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

  it('is OpenAPI 3.1 with a title, a version, a license and somebody to turn to', () => {
    expect(document.openapi).to.match(/^3\.1\./);
    expect(document.info).to.include.keys('title', 'version', 'description', 'license', 'contact');
    expect(document.servers.map(({ url }) => url)).to.deep.equal(['/']);
  });

  it('has every row of the REST interface, with its permission', () => {
    for (const row of REST_ROWS) {
      const described = document.paths[`/api/v1${row.path}`]?.[row.method.toLowerCase()];
      expect(described, `${row.method} ${row.path}`).to.include({
        operationId: row.operationId,
        'x-permission': row.operation.permission,
      });
      expect(described?.security).to.deep.equal([{ serviceAccountKey: [] }]);
      const names = (described?.parameters ?? []).map(({ name, $ref }) => name ?? $ref?.split('/').at(-1));
      expect(names.includes('idempotencyKey')).to.equal(row.method !== 'GET');
      expect(names.includes('ifNoneMatch')).to.equal(row.method === 'GET');
      for (const name of Object.keys(row.query?.properties ?? {})) expect(names).to.include(name);
      expect(Object.keys(described?.responses ?? {})).to.include(String(row.status));
    }
  });

  it('has every procedure, with its role and kind', () => {
    const procedures = operations.filter(({ path }) => path.startsWith('/api/trpc/'));
    expect(procedures.length).to.be.greaterThan(40);
    for (const { path, method, operation } of procedures) {
      const known = OPERATIONS.get(path.slice('/api/trpc/'.length));
      expect(operation['x-role'], path).to.equal(known?.role);
      if (known?.kind === 'mutation') expect(method, path).to.equal('post');
      expect(operation.security, path).to.deep.equal([{ sessionCookie: [] }]);
    }
    expect(operations).to.have.length(procedures.length + REST_ROWS.length);
  });

  it('says of each operation what it does, under a tag that is described, and how it fails', () => {
    const ids = new Set<string>();
    const tags = new Map(document.tags.map(({ name, description }) => [name, description]));
    for (const { path, operation } of operations) {
      expect(operation.summary, path).to.have.length.within(5, 120);
      expect(operation.description, path).to.match(/\S/);
      expect(operation.tags, path).to.have.length(1);
      expect(tags.get(operation.tags[0]!), path).to.match(/\S/);
      const statuses = ['400', '401', '403', '405', '429', '503'];
      expect(Object.keys(operation.responses), path).to.include.members(statuses);
      if (path.startsWith('/api/trpc/'))
        expect(Object.keys(operation.responses), path).to.include.members(['412', '413', '415']);
      ids.add(operation.operationId);
    }
    expect(ids.size).to.equal(operations.length);
    const grouped = document['x-tagGroups'].flatMap(({ tags }) => tags);
    expect(grouped.sort()).to.deep.equal([...tags.keys()].sort());
  });

  it('describes what comes in with the rules that check it', () => {
    const secret = document.components.schemas.NewSecret;
    expect(secret).to.deep.equal({
      type: 'object',
      required: ['name', 'value'],
      additionalProperties: false,
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 100, pattern: '^[a-zA-Z][a-zA-Z0-9_.-]*$' },
        value: { type: 'string', minLength: 1, maxLength: 65_536 },
      },
    });
    const body = document.paths['/api/v1/secrets']?.post?.requestBody?.content['application/json'];
    expect(body?.schema).to.deep.equal({ $ref: '#/components/schemas/NewSecret' });
  });

  it('names every field of every object, but of those whose fields are others’ to choose', () => {
    const open: string[] = [];
    const visit = (value: unknown, pointer: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if ('type' in value && [value.type].flat().includes('object') && isOpen(value)) open.push(pointer);
      for (const [key, item] of Object.entries(value))
        if (key !== 'example') visit(item, `${pointer}/${key}`);
    };
    visit(document.components, '');
    visit(document.paths, '');
    const places = open.map((pointer) => pointer.replace(/^.*\/(schemas|properties)\//, ''));
    expect([...new Set(places)].sort()).to.deep.equal(OPEN_OBJECTS);
  });

  it('knows every file of schemas', () => {
    const folder = join(import.meta.dirname, '../../../schemas/api');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => basename(file, '.ts'));
    expect(Object.keys(SCHEMA_MODULES).sort()).to.deep.equal(files.sort());
  });

  it('has examples that fit their schemas, for every body and every query', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    formats.default.default(ajv);
    ajv.addSchema({ $id: 'openapi:', ...document });
    let checked = 0;
    const wrong: string[] = [];
    const visit = (value: unknown, pointer: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if ('schema' in value && 'example' in value) {
        checked += 1;
        const fits = ajv.validate({ $ref: `openapi:#${pointer}/schema` }, value.example);
        if (!fits)
          wrong.push(`${pointer}: ${ajv.errorsText()}: ${JSON.stringify(value.example).slice(0, 200)}`);
      }
      for (const [key, item] of Object.entries(value)) {
        const step = encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
        visit(item, `${pointer}/${step}`);
      }
    };
    visit(document.paths, '/paths');
    visit(document.components, '/components');
    expect(wrong, wrong.join('\n')).to.deep.equal([]);
    expect(checked).to.be.greaterThan(operations.length);
  });

  it('holds nothing of this machine', () => {
    expect(text).not.to.include(process.cwd());
    expect(text).not.to.match(/svc_[0-9a-z]{26}/);
  });

  it('has patterns that every engine of regular expressions reads: no classes of Unicode', () => {
    const patterns = [...text.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
      ([, one]) => JSON.parse(one ?? '""') as string,
    );
    expect(patterns.length).to.be.greaterThan(50);
    expect(patterns.filter((pattern) => /\\[pP]\{/.test(pattern))).to.deep.equal([]);
    expect(text).not.to.include('\\\\p{');
  });

  it('has no two components of one name, also as generators name those within others', () => {
    const { components } = document as unknown as { components: Record<string, Record<string, object>> };
    const names = Object.entries(components).flatMap(([kind, all]) =>
      kind === 'securitySchemes' ? [] : Object.keys(all).map((name) => name.toLowerCase()),
    );
    const within = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      Object.entries((schema as { properties?: Record<string, Inline> }).properties ?? {}).flatMap(
        ([field, { properties, items }]) =>
          properties ? [`${name}${field}`] : items?.properties ? [`${name}${field}item`] : [],
      ),
    );
    const all = [...names, ...within.map((name) => name.toLowerCase())];
    expect(all.filter((name, at) => all.indexOf(name) !== at)).to.deep.equal([]);
  });

  it('is without a finding in Redocly’s recommended-strict and Spectral’s oas rules', async function () {
    this.timeout(120_000);
    this.slow(15_000);
    const folder = mkdtempSync(join(tmpdir(), 'headgate-openapi-'));
    try {
      const file = join(folder, 'openapi.json');
      writeFileSync(file, text);
      const lint = join(openApiTools(), 'lint.mjs');
      const { stdout } = await run(process.execPath, [lint, file], { maxBuffer: 64 * 1024 * 1024 });
      const findings = JSON.parse(stdout) as string[];
      expect(findings, findings.slice(0, 20).join('\n')).to.deep.equal([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
