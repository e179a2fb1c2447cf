/** The OpenAPI document that the controller serves, as far as the page reads it. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  patternProperties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
}

interface Content {
  'application/json'?: { schema: Schema; example?: unknown };
}
export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema?: Schema;
  content?: Content;
  example?: unknown;
}
interface Answer {
  description: string;
  content?: Content;
}
interface DescribedOperation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, Answer | { $ref: string }>;
  'x-permission'?: string;
  'x-role'?: string;
}
export interface ApiDocument {
  info: { title: string; version: string };
  tags: { name: string; description: string }[];
  'x-tagGroups': { name: string; tags: string[] }[];
  paths: Record<string, Record<string, DescribedOperation>>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    responses: Record<string, Answer>;
  };
}

/** One operation, with everything that it refers to looked up. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  permission: string | null;
  role: string | null;
  parameters: Parameter[];
  body: { schema: Schema; example: unknown; required: boolean } | null;
  answers: { status: string; description: string; schema: Schema | null; example: unknown }[];
}
export interface Tag {
  name: string;
  description: string;
  operations: Operation[];
}
export interface Group {
  name: string;
  tags: Tag[];
}

export async function readDocument(): Promise<ApiDocument> {
  const answer = await fetch('/api/v1/openapi.json');
  if (!answer.ok) throw new Error(`The controller answered ${answer.status} instead of the description.`);
  return (await answer.json()) as ApiDocument;
}

/** What a reference of this document leads to. */
export function lookUp<T>(document: ApiDocument, value: T | { $ref: string }): T {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value as T;
  const [, , kind = '', name = ''] = (value as { $ref: string }).$ref.split('/');
  return (document.components as Record<string, Record<string, unknown>>)[kind]?.[name] as T;
}

/** The REST interface first, then the procedures, each under its tags. */
export function groupsOf(document: ApiDocument): Group[] {
  const byTag = new Map<string, Operation[]>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, described] of Object.entries(methods)) {
      const tag = described.tags[0] ?? '';
      byTag.set(tag, [...(byTag.get(tag) ?? []), operationOf(document, path, method, described)]);
    }
  }
  const descriptions = new Map(document.tags.map(({ name, description }) => [name, description]));
  return document['x-tagGroups'].map(({ name, tags }) => ({
    name,
    tags: tags.map((tag) => ({
      name: tag,
      description: descriptions.get(tag) ?? '',
      operations: byTag.get(tag) ?? [],
    })),
  }));
}

function operationOf(
  document: ApiDocument,
  path: string,
  method: string,
  described: DescribedOperation,
): Operation {
  const isProcedure = described['x-role'] !== undefined;
  const body = described.requestBody?.content['application/json'];
  return {
    id: described.operationId,
    method: method.toUpperCase(),
    path,
    summary: described.summary,
    description: described.description,
    permission: described['x-permission'] ?? null,
    role: described['x-role'] ?? null,
    parameters: (described.parameters ?? []).map((one) => lookUp<Parameter>(document, one)),
    body: body
      ? {
          schema: body.schema,
          example: body.example,
          required: described.requestBody?.required ?? false,
        }
      : null,
    answers: Object.entries(described.responses).map(([status, one]) => {
      const { description, content } = lookUp<Answer>(document, one);
      const json = content?.['application/json'];
      const failed = !status.startsWith('2');
      return {
        status,
        description,
        // Every failure has the same form, which the page tells once.
        schema: failed || !json ? null : isProcedure ? outputOf(json.schema) : json.schema,
        example: failed ? undefined : json?.example,
      };
    }),
  };
}

/** Of a procedure's answer, what stands in tRPC's envelope. */
const outputOf = (schema: Schema): Schema =>
  schema.properties?.result?.properties?.data?.properties?.json ?? schema;

/** Every word must occur in what names the operation. */
export function matching(groups: readonly Group[], text: string): Group[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...groups];
  const fits = (tag: Tag, { id, method, path, summary, permission, role }: Operation): boolean => {
    const whole = [tag.name, id, method, path, summary, permission, role].join(' ').toLowerCase();
    return words.every((word) => whole.includes(word));
  };
  return groups
    .map((group) => ({
      ...group,
      tags: group.tags
        .map((tag) => ({ ...tag, operations: tag.operations.filter((one) => fits(tag, one)) }))
        .filter(({ operations }) => operations.length > 0),
    }))
    .filter(({ tags }) => tags.length > 0);
}
