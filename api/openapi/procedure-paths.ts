/** The procedures in the description: each with the calling convention of tRPC around its input and output. */
import { appRouter } from '../procedures/router.ts';
import type { ProcedureMeta } from '../trpc.ts';
import type { Example } from './rest-paths.ts';
import type { Json, SchemaWriter } from './schemas.ts';

export const SESSION_SECURITY = 'sessionCookie';

export const PROCEDURE_ERRORS = {
  400: ['ProcedureBadRequest', 'BAD_REQUEST: the input is wrong; `issues` names each place.'],
  401: ['ProcedureUnauthorized', 'UNAUTHORIZED: not signed in.'],
  403: ['ProcedureForbidden', 'FORBIDDEN: the role is not enough, or the team or environment is not yours.'],
  404: ['ProcedureNotFound', 'NOT_FOUND: it does not exist, or is not yours.'],
  409: ['ProcedureConflict', 'CONFLICT: the name is taken, or somebody changed it meanwhile.'],
  412: [
    'ProcedurePreconditionFailed',
    'PRECONDITION_FAILED: not in the present state; the message says why.',
  ],
  503: ['ProcedureUnavailable', 'SERVICE_UNAVAILABLE: the database does not answer at the moment.'],
} as const satisfies Record<number, readonly [string, string]>;

export const PROCEDURE_ERROR_SCHEMA: Json = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['json'],
      properties: {
        json: {
          type: 'object',
          required: ['message', 'code', 'data'],
          properties: {
            message: { type: 'string' },
            code: { type: 'integer' },
            data: {
              type: 'object',
              required: ['code', 'httpStatus'],
              properties: {
                code: { type: 'string' },
                httpStatus: { type: 'integer' },
                requestId: { type: ['string', 'null'] },
              },
            },
          },
        },
      },
    },
  },
};

const ROLE_WORDS = {
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
  const envelope = { type: 'object', required: ['json'], properties: { json: schemas.write(input) } };
  const required = 'required' in input && (input.required as string[]).length > 0;
  const content = { 'application/json': { schema: envelope, example: enveloped } };
  return {
    operationId: name,
    summary,
    description: `${kind === 'query' ? 'A query' : 'A mutation'}. ${ROLE_WORDS[role]}`,
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
      : { requestBody: { required, content } }),
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

const answerSchema = (output: Json): Json => ({
  type: 'object',
  required: ['result'],
  properties: {
    result: {
      type: 'object',
      required: ['data'],
      properties: {
        data: {
          type: 'object',
          required: ['json'],
          properties: { json: output, meta: { type: 'object', additionalProperties: true } },
        },
      },
    },
  },
});
