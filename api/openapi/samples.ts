/** Examples made from schemas: each fits the schema that it was made from, and reads like something that could be so. */
import { Gate } from '../../schemas/api/common.ts';
import type { Json } from './schemas.ts';

const ID = '01k8w3v6e9r2q4x7m5n1p0t8yd';
const MOMENT = '2026-11-21T09:30:00.000Z';
const COMMIT = '8c1f2a94d0b7e35a6c4d9f018e2b7a53c6d1e0f4';

/** By the name of the field. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  name: 'orders',
  displayName: 'Orders',
  description: 'Orders of the shop, without personal data',
  changelog: 'Drop debug lines',
  email: 'ada@example.org',
  host: 'edge-1.example.org',
  issuer: 'https://login.example.com/realms/main',
  // Of a VRL program that is tried.
  source: '.level = upcase!(.level)',
  input: '{"message":"hello","level":"info"}',
  variable: 'SVC_SECRET_DB_PASSWORD',
  value: 'correct horse battery staple',
  path: 'environments/staging/pipelines/orders.yaml',
  ref: 'main',
  branch: 'main',
  commit: COMMIT,
  sha: COMMIT,
  commitSha: COMMIT,
  hash: '5f2b8e0c94d17a36e1c0f9b85d42a7e36b9d08c1f4a25e7390bd6c18e2f7a041',
  prevHash: '0000000000000000000000000000000000000000000000000000000000000000',
  key: 'region',
  label: ['region:eu'],
  cursor: '1042',
  after: '1042',
  action: 'pipeline.deployed',
  entityType: 'Pipeline',
  userEmail: 'ada@example.org',
  ipAddress: '192.0.2.7',
  componentKey: 'http_in',
  blockId: 'b1',
  componentType: 'http_server',
  configYaml: 'sources:\n  http_in:\n    type: http_server\n    address: 127.0.0.1:8080\n',
  changes: 'none',
  version: 3,
  versionNumber: 3,
  threshold: 90,
  reason: 'It runs on every node',
  message: 'It runs on every node',
  labels: { region: 'eu' },
  targetVersion: 'v1.4.0',
  downloadUrl: 'https://headgate.example.org/agent/headgate-agent-linux-x64',
  checksum: 'sha256:5f2b8e0c94d17a36e1c0f9b85d42a7e36b9d08c1f4a25e7390bd6c18e2f7a041',
  signature: `${'k'.repeat(85)}A==`,
};

/** By the name of the field, where it depends on another one. */
const TOGETHER: Readonly<Record<string, unknown>> = {
  secretBackend: 'EXEC',
  secretBackendConfig: { command: '/usr/local/bin/read-secret' },
};

/** For texts with a pattern: the first that fits. */
const WORDS = [
  ...['orders', 'region:eu', 'SVC_SECRET_TOKEN', '1042', 'A', '#1d6fb8', '2026-01-31'],
  '5f2b8e0c94d17a36e1c0f9b85d42a7e3',
  ID,
  // A commit.
  '5f2b8e0c94d17a36e1c0f9b85d42a7e3a1b2c3d4',
  // A digest.
  '5f2b8e0c94d17a36e1c0f9b85d42a7e36b9d08c1f4a25e7390bd6c18e2f7a041',
];

interface Schema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
}

/** Every field is filled in; of alternatives the first is taken. */
export function sampleOf(schema: object, name = ''): unknown {
  const known = schema as Schema;
  if (schema === Gate) return gateSample();
  if (Object.hasOwn(TOGETHER, name)) return TOGETHER[name];
  const named = BY_NAME[name];
  if (named !== undefined && isLike(known, named)) return named;
  if ('const' in known) return known.const;
  if (known.enum) return known.enum[0];
  if (known.default !== undefined) return known.default;
  const first = known.anyOf?.[0] ?? known.oneOf?.[0];
  if (first) return sampleOf(first, name);
  switch (Array.isArray(known.type) ? known.type[0] : known.type) {
    case 'string':
      return sampleText(known, name);
    case 'integer':
    case 'number':
      return Math.min(Math.max(1, known.minimum ?? 1), known.maximum ?? 1);
    case 'boolean':
      return true;
    case 'array':
      return Array.from({ length: Math.max(1, known.minItems ?? 1) }, () =>
        sampleOf(known.items ?? {}, name.replace(/s$/, '')),
      );
    case 'object':
      return sampleObject(known);
    case 'null':
      return null;
    default:
      return 'anything';
  }
}

function sampleObject(schema: Schema): Json {
  const filled = Object.entries(schema.properties ?? {}).map(([name, one]) => [name, sampleOf(one, name)]);
  const free = Object.entries(schema.patternProperties ?? {}).flatMap(([pattern, one]) => {
    const key = WORDS.find((word) => new RegExp(pattern, 'u').test(word));
    return key === undefined ? [] : [[key, sampleOf(one, key)]];
  });
  return Object.fromEntries([...filled, ...free]);
}

function sampleText(schema: Schema, name: string): string {
  if (schema.format === 'date-time') return MOMENT;
  if (/(^id|Id)$/.test(name)) return ID;
  const { pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  const rule = pattern === undefined ? null : new RegExp(pattern, 'u');
  const words = name === '' || rule ? WORDS : [name, ...WORDS];
  const found = words.find(
    (word) => word.length >= minLength && word.length <= maxLength && (rule?.test(word) ?? true),
  );
  return found ?? 'x'.repeat(Math.max(1, minLength));
}

/** Whether a likely value for the field's name may stand there: the rules that schemas of single fields have. */
function isLike(schema: Schema, value: unknown): boolean {
  if (schema.anyOf) return schema.anyOf.some((one) => isLike(one, value));
  if (schema.enum || 'const' in schema) return false;
  const { type, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  if (Array.isArray(value)) return type === 'array' && value.every((one) => isLike(schema.items ?? {}, one));
  if (typeof value === 'string') {
    if (type !== 'string' || schema.format !== undefined) return false;
    const long = value.length >= minLength && value.length <= maxLength;
    return long && (pattern === undefined || new RegExp(pattern, 'u').test(value));
  }
  if (typeof value === 'number') {
    const { minimum = value, maximum = value } = schema;
    return (type === 'number' || type === 'integer') && value >= minimum && value <= maximum;
  }
  // A map of texts.
  return (
    type === 'object' &&
    schema.properties === undefined &&
    schema.patternProperties?.['^.*$']?.type === 'string'
  );
}

const gateSample = () =>
  ['git', 'accepted', 'delivered', 'running'].map((point) => ({
    point,
    state: 'done',
    commit: COMMIT,
    version: 3,
    at: MOMENT,
    reason: 'It runs on every node',
  }));
