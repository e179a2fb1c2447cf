/** The REST interface in the description. */
import type { TSchema } from 'typebox';
import { BecameGit, Committed } from '../../schemas/api/git-words.ts';
import type { RestRow } from '../rest/row.ts';
import type { Json, SchemaWriter } from './schemas.ts';

export const REST_SECURITY = 'serviceAccountKey';

/** What `$ref`s of responses lead to: status to name and sentence. */
export const REST_ERRORS = {
  400: ['BadRequest', 'The input is wrong; `details` names each place.'],
  401: ['Unauthorized', 'There is no key, or it is not known, has expired or was revoked.'],
  403: ['Forbidden', 'The key lacks the permission.'],
  404: ['NotFound', 'There is no such thing in the key’s environment.'],
  409: [
    'Conflict',
    'The name is taken, or somebody changed it meanwhile, or the same request is still at work.',
  ],
  412: ['PreconditionFailed', 'Not in the present state: the message says why.'],
  413: [
    'PayloadTooLarge',
    'The body is over 256 KiB; of `POST /git/plan`, over 24 MiB, or its files over 8 MiB.',
  ],
  415: ['UnsupportedMediaType', 'The body is not plain `application/json`.'],
  422: [
    'Unprocessable',
    'What was to be deployed is not valid, or the `Idempotency-Key` came with another request.',
  ],
  429: ['TooManyRequests', 'More than 600 requests in a minute, or too many searches and plans at once.'],
  503: ['Unavailable', 'The database does not answer at the moment.'],
} as const satisfies Record<number, readonly [string, string]>;

const REPLAYED = {
  description: 'true where this is the stored answer to an earlier request.',
  schema: { type: 'string', enum: ['true'] },
};

export const REST_PARAMETERS: Json = {
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The id of the object.',
    schema: { type: 'string', minLength: 1, maxLength: 64 },
    example: '01k8w3v6e9r2q4x7m5n1p0t8yd',
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes the request safe to send again: its first answer, unless a fault of the server, is kept for 24 hours and given again.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
    example: 'deploy-orders-8c1f2a9',
  },
};

/** Something that fits the schema; the name of the field helps to find something likely. */
export type Example = (schema: object, name?: string) => unknown;

export function restOperation(row: RestRow, schemas: SchemaWriter, example: Example): Json {
  const { body, operation } = row;
  const isPost = row.method === 'POST';
  return {
    operationId: row.operationId,
    summary: row.summary,
    description: [row.description, `Needs the permission \`${operation.permission}\`.`]
      .filter(Boolean)
      .join(' '),
    tags: [row.tag],
    security: [{ [REST_SECURITY]: [] }],
    'x-permission': operation.permission,
    ...withParameters([
      ...(row.path.includes('{id}') ? [{ $ref: '#/components/parameters/id' }] : []),
      ...(isPost ? [{ $ref: '#/components/parameters/idempotencyKey' }] : []),
      ...queryParameters(row, schemas, example),
    ]),
    ...(body && {
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: schemas.write(body), example: row.example ?? example(body) },
        },
      },
    }),
    responses: {
      [row.status]: {
        description: row.status === 201 ? 'Made.' : 'Done.',
        ...(isPost ? { headers: { 'Idempotent-Replayed': REPLAYED } } : {}),
        content: {
          'application/json': { schema: schemas.write(row.response), example: example(row.response) },
        },
      },
      ...(row.mayGoToGit && {
        202: {
          description:
            'git describes the pipeline: the change is a commit or a proposal now, and follows from there.',
          ...(isPost ? { headers: { 'Idempotent-Replayed': REPLAYED } } : {}),
          content: { 'application/json': { schema: schemas.write(BecameGit), example: example(Committed) } },
        },
      }),
      ...Object.fromEntries(
        errorsOf(row).map((status) => [status, { $ref: `#/components/responses/${REST_ERRORS[status][0]}` }]),
      ),
    },
  };
}

const withParameters = (parameters: Json[]): Json => (parameters.length > 0 ? { parameters } : {});

function queryParameters(row: RestRow, schemas: SchemaWriter, example: Example): Json[] {
  const required: readonly string[] = row.query?.required ?? [];
  return Object.entries(row.query?.properties ?? {}).map(([name, schema]: [string, TSchema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description: QUERY_WORDS[name] ?? `The ${name}.`,
    schema: schemas.write(schema),
    example: example(schema, name),
  }));
}

const QUERY_WORDS: Readonly<Record<string, string>> = {
  label: '`<key>:<value>`; repeated, all of them must be there.',
  after: 'The cursor of the answer before; without one the log is told from its beginning.',
  limit: 'How many at most.',
  status: 'Only those that are in this state.',
  action: 'Only events of this action.',
  id: 'The id of the secret; either this or `name`.',
  name: 'The name of the secret; either this or `id`.',
};

function errorsOf(row: RestRow): (keyof typeof REST_ERRORS)[] {
  const changes = row.operation.kind === 'mutation';
  const names =
    row.mayBeMissing || row.path.includes('{id}') || row.method === 'PUT' || row.method === 'DELETE';
  return [
    400,
    401,
    403,
    ...(names ? ([404] as const) : []),
    ...(changes ? ([409, 412] as const) : []),
    ...(row.body ? ([413, 415] as const) : []),
    ...(row.method === 'POST' ? ([422] as const) : []),
    429,
    503,
  ];
}
