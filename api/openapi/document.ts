/**
 * The description of the whole HTTP interface as OpenAPI 3.1, rendered from the tables that serve it: the rows of REST and
 * the procedures of the router, with the very schemas that check what comes in.
 */

import packageFile from '../../package.json' with { type: 'json' };
import { RestError } from '../../schemas/api/rest.ts';
import { REST_TAGS } from '../rest/row.ts';
import { REST_ROWS } from '../rest/rows.ts';
import {
  PROCEDURE_ERROR_SCHEMA,
  PROCEDURE_ERRORS,
  procedureOperation,
  procedures,
  routerOf,
  SESSION_SECURITY,
} from './procedure-paths.ts';
import {
  RATE_LIMIT,
  REST_ERRORS,
  REST_HEADERS,
  REST_PARAMETERS,
  REST_SECURITY,
  restOperation,
} from './rest-paths.ts';
import { sampleOf } from './samples.ts';
import { createSchemaWriter, type Json } from './schemas.ts';

const DESCRIPTION = `Two interfaces over the same operations.

**REST v1** at \`/api/v1\` is for programs: a service account's key as \`Authorization: Bearer svc_…\`. A key works in one
environment and with the permissions that it was made with. Errors are \`{"error": "…", "code": "…"}\`. Whatever changes something may carry an
\`Idempotency-Key\` and is then safe to send again.

**Procedures** at \`/api/trpc\` are what the web UI uses, with a session. They are tRPC with superjson; the input and the
output stand below \`json\`.`;

export function describeApi(options: { baseUrl: string; cookieName: string }): Json {
  const schemas = createSchemaWriter();
  const mounted = procedures();
  const paths: Record<string, Json> = {};
  for (const row of REST_ROWS) {
    const path = `/api/v1${row.path}`;
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: restOperation(row, schemas, sampleOf) };
  }
  for (const procedure of mounted) {
    const method = procedure.kind === 'query' ? 'get' : 'post';
    paths[`/api/trpc/${procedure.name}`] = { [method]: procedureOperation(procedure, schemas, sampleOf) };
  }
  const restTags = Object.entries(REST_TAGS).map(([name, description]) => ({ name, description }));
  const routers = [...new Set(mounted.map(({ name }) => routerOf(name)))];
  const routerTags = routers.map((name) => ({
    name,
    description: `The procedures \`${name}.…\`.`,
  }));
  const restError = schemas.write(RestError);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Headgate',
      version: packageFile.version,
      summary: packageFile.description,
      description: DESCRIPTION,
      contact: { name: 'The operator of this Headgate', url: options.baseUrl },
      license: { name: 'Apache License 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/', description: 'This Headgate.' }],
    security: [{ [REST_SECURITY]: [] }],
    tags: [...restTags, ...routerTags].sort((a, b) => a.name.localeCompare(b.name, 'en')),
    'x-tagGroups': [
      { name: 'REST v1', tags: restTags.map(({ name }) => name) },
      { name: 'Procedures', tags: routers },
    ],
    paths,
    components: {
      securitySchemes: {
        [REST_SECURITY]: {
          type: 'http',
          scheme: 'bearer',
          description: 'The key of a service account, `svc_…`.',
        },
        [SESSION_SECURITY]: {
          type: 'apiKey',
          in: 'cookie',
          name: options.cookieName,
          description: 'The cookie that `POST /api/auth/sign-in` sets.',
        },
      },
      parameters: REST_PARAMETERS,
      headers: REST_HEADERS,
      responses: {
        ...responses(PROCEDURE_ERRORS, { $ref: '#/components/schemas/ProcedureError' }, () => ({})),
        // Of both: what is refused before anybody knows what is asked for.
        ...responses(REST_ERRORS, restError, (status) => (LIMITED.has(status) ? RATE_LIMIT : {})),
      },
      schemas: { ...schemas.components(), ProcedureError: PROCEDURE_ERROR_SCHEMA },
    },
  };
}

/** Statuses of requests whose key is known by then. */
const LIMITED = new Set(['400', '403', '404', '409', '412', '413', '415', '422', '429']);
const MAY_RETRY = new Set(['409', '429', '503']);

const responses = (
  table: Record<string, readonly [string, string]>,
  schema: Json,
  headersOf: (status: string) => Json,
): Json =>
  Object.fromEntries(
    Object.entries(table).map(([status, [name, description]]) => [
      name,
      {
        description,
        headers: {
          ...(MAY_RETRY.has(status) ? { 'Retry-After': RETRY_AFTER } : {}),
          ...(status === '405' ? { Allow: ALLOW } : {}),
          ...headersOf(status),
        },
        content: { 'application/json': { schema } },
      },
    ]),
  );

const ALLOW: Json = { description: 'The methods that it takes.', schema: { type: 'string' } };
const RETRY_AFTER: Json = { description: 'Seconds.', schema: { type: 'integer', minimum: 1 } };
