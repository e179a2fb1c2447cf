/** The REST interface in the description. */
import type { TSchema } from 'typebox';
import { BecameGit, Committed } from '../../schemas/api/delivery/git-words.ts';
import { ENTITY_TAGS } from '../rest/etag.ts';
import type { RestRow } from '../rest/row.ts';
import type { Json, SchemaWriter } from './schemas.ts';

export const REST_SECURITY = 'serviceAccountKey';

/** What `$ref`s of responses lead to: status to name and sentence. */
export const REST_ERRORS = {
  400: ['BadRequest', 'The input is wrong; `details` names each place.'],
  401: ['Unauthorized', 'There is no key, or it is not known, has expired or was revoked.'],
  403: ['Forbidden', 'The key lacks the permission.'],
  404: ['NotFound', 'There is no such thing in the key’s environment.'],
  405: ['MethodNotAllowed', 'The address does not take this method; `Allow` names those that it takes.'],
  409: [
    'Conflict',
    'The name is taken, or somebody changed it meanwhile, or the same request is still at work.',
  ],
  412: [
    'PreconditionFailed',
    'Not in the present state: the message says why. With `If-Match`: it was changed meanwhile.',
  ],
  413: [
    'PayloadTooLarge',
    'The body is over its limit: 256 KiB; 3 MiB where it holds a config; 24 MiB of `POST /git/plan`, or its files over 8 MiB.',
  ],
  415: ['UnsupportedMediaType', 'The body is not plain `application/json`.'],
  422: [
    'Unprocessable',
    'What was to be deployed is not valid, or the `Idempotency-Key` came with another request.',
  ],
  429: ['TooManyRequests', 'More than 600 requests in a minute, or too many searches and plans at once.'],
  431: ['HeadersTooLarge', 'The address and the headers are too long together.'],
  500: ['InternalServerError', 'A fault of the server; `requestId` leads to it in its log.'],
  503: ['Unavailable', 'The database does not answer at the moment.'],
} as const satisfies Record<number, readonly [string, string]>;

export const REST_HEADERS: Json = {
  IdempotentReplayed: {
    description: 'true where this is the stored answer to an earlier request.',
    schema: { type: 'string', enum: ['true'] },
  },
  ETag: {
    description: 'Stands for this answer; for `If-None-Match` and `If-Match`.',
    schema: { type: 'string' },
  },
  Location: { description: 'Where what was made is.', schema: { type: 'string' } },
  RateLimit: {
    description:
      'Requests that are left to this key, and the seconds until there are more: `"key";r=599;t=60`.',
    schema: { type: 'string' },
  },
  RateLimitPolicy: {
    description: 'How many requests a key has in how many seconds: `"key";q=600;w=60`.',
    schema: { type: 'string' },
  },
};
/** As draft-ietf-httpapi-ratelimit-headers writes them. */
export const RATE_LIMIT: Json = {
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
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
  number: {
    name: 'number',
    in: 'path',
    required: true,
    description: 'The number of the pull request.',
    schema: { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
    example: 7,
  },
  ifMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description:
      'The `ETag` of what was read, or `*`: with another state than that the answer is 412, and nothing is changed.',
    schema: { type: 'string', minLength: 1, maxLength: 2_000, pattern: ENTITY_TAGS },
    example: '"c3RhdGUgb2YgaXQ"',
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description:
      'The `ETag` of the answer before: where nothing has changed the answer is 304, without a body.',
    schema: { type: 'string', minLength: 1, maxLength: 2_000, pattern: ENTITY_TAGS },
    example: '"YW5zd2VyIG9mIGl0"',
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes the request safe to send again: its first answer, unless a fault of the server or 429, is kept for 24 hours and given again.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
    example: 'deploy-orders-8c1f2a9',
  },
};

/** Something that fits the schema; the name of the field helps to find something likely. */
export type Example = (schema: object, name?: string) => unknown;

export function restOperation(row: RestRow, schemas: SchemaWriter, example: Example): Json {
  const { body, operation } = row;
  const changes = row.method !== 'GET';
  const replayed = changes
    ? { 'Idempotent-Replayed': { $ref: '#/components/headers/IdempotentReplayed' } }
    : {};
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
      ...['id', 'number']
        .filter((name) => row.path.includes(`{${name}}`))
        .map((name) => ({ $ref: `#/components/parameters/${name}` })),
      ...(changes ? [{ $ref: '#/components/parameters/idempotencyKey' }] : []),
      ...(changes && row.state ? [{ $ref: '#/components/parameters/ifMatch' }] : []),
      ...(changes ? [] : [{ $ref: '#/components/parameters/ifNoneMatch' }]),
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
        headers: {
          ...RATE_LIMIT,
          ...replayed,
          ...(changes ? {} : { ETag: { $ref: '#/components/headers/ETag' } }),
          ...(row.status === 201 ? { Location: { $ref: '#/components/headers/Location' } } : {}),
        },
        content: {
          'application/json': { schema: schemas.write(row.response), example: example(row.response) },
        },
      },
      ...(!changes && {
        304: { description: 'Nothing has changed since the answer that `If-None-Match` names.' },
      }),
      ...(row.mayGoToGit && {
        202: {
          description:
            'git describes the pipeline: the change is a commit or a proposal now, and follows from there.',
          headers: { ...RATE_LIMIT, ...replayed },
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
    description: QUERY_LABELS[name] ?? `The ${name}.`,
    schema: schemas.write(schema),
    // Of one that only an answer can give, and of one that excludes another, there is no example that would be taken.
    ...(WITHOUT_EXAMPLE.has(name) ? {} : { example: example(schema, name) }),
  }));
}

const WITHOUT_EXAMPLE = new Set(['cursor', 'after', 'id']);

const QUERY_LABELS: Readonly<Record<string, string>> = {
  label: '`<key>:<value>`; repeated, all of them must be there.',
  after: 'The cursor of the answer before; without one the answer begins with the first event.',
  limit: 'How many at most.',
  cursor: 'The `nextCursor` of the page before.',
  wait: 'Seconds to wait until the version runs on its nodes or has failed; the answer then has `deployment`.',
  state: 'Only those in this state.',
  status: 'Only those that are in this state.',
  action: 'Only events of this action.',
  id: 'The id; either this or `name`.',
  name: 'Exactly this name.',
};

function errorsOf(row: RestRow): (keyof typeof REST_ERRORS)[] {
  // A query by POST may be refused for the present state, too, and carries an `Idempotency-Key`.
  const changes = row.method !== 'GET';
  const names = row.mayBeMissing || row.path.includes('{') || row.method === 'PUT' || row.method === 'DELETE';
  return [
    400,
    401,
    403,
    ...(names ? ([404] as const) : []),
    405,
    ...(changes ? ([409, 412] as const) : []),
    ...([413, 415] as const),
    ...(row.method === 'GET' ? [] : ([422] as const)),
    429,
    431,
    500,
    503,
  ];
}
