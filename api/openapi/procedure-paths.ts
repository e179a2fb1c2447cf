/** The procedures in the description: each with the calling convention of tRPC around its input and output. */
import { appRouter } from '../procedures/router.ts';
import type { ProcedureMeta } from '../procedures/trpc.ts';
import type { Example } from './rest-paths.ts';
import type { Json, SchemaWriter } from './schemas.ts';

export const SESSION_SECURITY = 'sessionCookie';

export const PROCEDURE_ERRORS = {
  400: ['ProcedureBadRequest', 'BAD_REQUEST: the input is wrong; `issues` names each place.'],
  401: ['ProcedureUnauthorized', 'UNAUTHORIZED: not signed in.'],
  403: ['ProcedureForbidden', 'FORBIDDEN: the role is not enough, or the team or environment is not yours.'],
  404: ['ProcedureNotFound', 'NOT_FOUND: it does not exist, or is not yours.'],
  405: ['ProcedureMethodNotAllowed', 'METHOD_NOT_SUPPORTED: GET for a mutation, or POST for a query.'],
  409: ['ProcedureConflict', 'CONFLICT: the name is taken, or somebody changed it meanwhile.'],
  412: [
    'ProcedurePreconditionFailed',
    'PRECONDITION_FAILED: not in the present state; the message says why.',
  ],
  413: ['ProcedurePayloadTooLarge', 'PAYLOAD_TOO_LARGE: the body is over 2 MiB.'],
  415: ['ProcedureUnsupportedMediaType', 'UNSUPPORTED_MEDIA_TYPE: the body is not `application/json`.'],
  429: ['ProcedureTooManyRequests', 'TOO_MANY_REQUESTS: try again after `Retry-After`.'],
  431: ['HeadersTooLarge', 'The address and the headers are too long together.'],
  500: [
    'ProcedureInternalServerError',
    'INTERNAL_SERVER_ERROR: a fault of the server; `requestId` leads to it.',
  ],
  503: ['ProcedureUnavailable', 'SERVICE_UNAVAILABLE: the database does not answer at the moment.'],
} as const satisfies Record<number, readonly [string, string]>;

/** An object with these fields, all of which are there, and with no others. */
const exactly = (properties: Json): Json => ({
  type: 'object',
  required: Object.keys(properties),
  additionalProperties: false,
  properties,
});

export const PROCEDURE_ERROR_SCHEMA: Json = exactly({
  error: exactly({
    json: exactly({
      message: { type: 'string' },
      code: { type: 'integer' },
      // What else a program may need of an error stands beside these.
      data: {
        type: 'object',
        required: ['code', 'httpStatus'],
        additionalProperties: true,
        properties: {
          code: { type: 'string' },
          httpStatus: { type: 'integer' },
          requestId: { type: ['string', 'null'] },
        },
      },
    }),
  }),
});

/** What superjson notes: which values are dates. */
const ANSWER_META: Json = exactly({
  values: {
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string', enum: ['Date'] } },
  },
  v: { type: 'integer' },
});

const ROLE_LABELS = {
  VIEWER: 'Needs the role VIEWER in the team.',
  EDITOR: 'Needs the role EDITOR in the team.',
  ADMIN: 'Needs the role ADMIN in the team.',
  SUPER_ADMIN: 'For super admins.',
};

interface Mounted {
  name: string;
  kind: 'query' | 'mutation';
  operation: ProcedureMeta['operation'];
}

/** Every procedure of the router, by name. */
export function procedures(): Mounted[] {
  // The type is nested by router, the record itself is flat.
  const flat = appRouter._def.procedures as object as Record<
    string,
    { _def: { type: Mounted['kind']; meta: ProcedureMeta } }
  >;
  return Object.entries(flat)
    .map(([name, { _def }]) => ({ name, kind: _def.type, operation: _def.meta.operation }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export const routerOf = (name: string): string => name.split('.')[0] ?? name;

export function procedureOperation(
  { name, kind, operation }: Mounted,
  schemas: SchemaWriter,
  example: Example,
): Json {
  const { input, output, role, summary } = operation;
  const enveloped = { json: example(input) };
  const required = 'required' in input && (input.required as string[]).length > 0;
  const envelope = {
    type: 'object',
    // No input may be left out.
    required: required ? ['json'] : [],
    additionalProperties: false,
    // `meta` annotates dates, for who writes with superjson.
    properties: { json: schemas.write(input), meta: { type: 'object', additionalProperties: true } },
  };
  const content = { 'application/json': { schema: envelope, example: enveloped } };
  return {
    operationId: name,
    summary,
    description: `${kind === 'query' ? 'A query' : 'A mutation'}. ${ROLE_LABELS[role]}`,
    tags: [routerOf(name)],
    security: [{ [SESSION_SECURITY]: [] }],
    'x-role': role,
    ...(kind === 'query'
      ? {
          parameters: [
            {
              name: 'input',
              in: 'query',
              required,
              description: 'The input as JSON, below `json`.',
              content,
            },
          ],
        }
      : { requestBody: { required: true, content } }),
    responses: {
      200: {
        description: 'Done. `meta` names the values that are dates, and may be ignored.',
        content: { 'application/json': { schema: answerSchema(schemas.write(output)) } },
      },
      ...Object.fromEntries(
        Object.entries(PROCEDURE_ERRORS).map(([status, [component]]) => [
          status,
          { $ref: `#/components/responses/${component}` },
        ]),
      ),
    },
  };
}

const answerSchema = (output: Json): Json =>
  exactly({
    result: exactly({
      data: {
        type: 'object',
        required: ['json'],
        additionalProperties: false,
        properties: { json: output, meta: ANSWER_META },
      },
    }),
  });
