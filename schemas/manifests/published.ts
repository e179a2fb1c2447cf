/**
 * The schemas as editors fetch them. They differ from those that validate in one way: a manifest as written may say
 * `{ $file: path }` wherever the spec wants a text, while validation sees the file's text.
 */
import { MANIFESTS } from './kinds.ts';

const FILE = {
  type: 'object',
  description: 'The content of a file, by its path relative to this manifest.',
  properties: { $file: { type: 'string', description: 'A relative path.', minLength: 1, maxLength: 1024 } },
  required: ['$file'],
  additionalProperties: false,
};

const DOCUMENT_NAMES = {
  Pipeline: 'pipeline',
  AlertRule: 'alert-rule',
  NodeGroup: 'node-group',
  Silence: 'silence',
  WebhookEndpoint: 'webhook-endpoint',
  Environment: 'environment',
  Repository: 'repository',
} as const satisfies Record<keyof typeof MANIFESTS, string>;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function admitFiles(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(admitFiles);
  if (!isRecord(schema)) return schema;
  if (schema.type === 'string') {
    const { description, default: preset, ...rules } = schema;
    return {
      ...(description === undefined ? {} : { description }),
      ...(preset === undefined ? {} : { default: preset }),
      anyOf: [rules, { $ref: '#/$defs/file' }],
    };
  }
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === 'propertyNames' || key === 'default' ? value : admitFiles(value),
    ]),
  );
}

/** Where a server at `baseUrl` publishes the schema of a kind. */
export const schemaAddress = (baseUrl: string, kind: keyof typeof MANIFESTS): string =>
  `${baseUrl.replace(/\/+$/, '')}/schemas/v1/${DOCUMENT_NAMES[kind]}.json`;

/** The published schemas by document name (`pipeline`, `alert-rule`, …), JSON Schema draft 2020-12. */
export function publishedSchemas(baseUrl: string): Record<string, object> {
  const published: Record<string, object> = {};
  for (const [name, document] of Object.entries(DOCUMENT_NAMES)) {
    const kind = name as keyof typeof MANIFESTS;
    const schema: Record<string, unknown> = JSON.parse(JSON.stringify(MANIFESTS[kind]));
    const properties = schema.properties;
    if (!isRecord(properties)) continue;
    published[document] = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: schemaAddress(baseUrl, kind),
      title: `Headgate ${kind}`,
      ...schema,
      properties: { ...properties, spec: admitFiles(properties.spec) },
      $defs: { file: FILE },
    };
  }
  return published;
}
