/** tRPC under Koa, with the spec's calling convention. */
import { nodeHTTPRequestHandler } from '@trpc/server/adapters/node-http';
import type { Context, Middleware } from 'koa';
import { unlessAway } from '../../controller/database/errors.ts';
import { badRequest, DomainError } from '../../controller/platform/operation/errors.ts';
import type { RequestHandler } from '../handler.ts';
import { assertDeclaredLength } from '../middleware/body.ts';
import { rejectCrossSite } from '../middleware/foreign-site.ts';
import { rejectRepeatedParameters } from '../middleware/query.ts';
import { rejectCrossSiteChange } from '../middleware/session.ts';
import { appRouter } from './router.ts';

const PREFIX = '/api/trpc/';
const METHODS = ['GET', 'POST'];
const BODY_BYTES = 2 * 1024 * 1024;
/** JSON-RPC numbers, as tRPC gives them. */
const NUMBERS: Record<string, number> = {
  UNAUTHORIZED: -32_001,
  FORBIDDEN: -32_003,
  BAD_REQUEST: -32_600,
  PAYLOAD_TOO_LARGE: -32_013,
  UNSUPPORTED_MEDIA_TYPE: -32_015,
};
const FAULT = {
  message: 'Something went wrong on the server; the request id leads to it in its log',
  code: 'INTERNAL_SERVER_ERROR',
  status: 500,
};

export function procedureRoutes(handler: RequestHandler): Middleware {
  return async (ctx, next) => {
    if (!ctx.path.startsWith(PREFIX)) return next();
    if (!METHODS.includes(ctx.method)) return refuseMethod(ctx);
    try {
      const actor = await handler.actor(ctx);
      // Who comes before what: nobody without a session learns whether his input was well-formed.
      if (actor.type === 'anonymous') {
        handler.anonymousLimit.take(ctx.state.ipAddress);
        throw new DomainError('UNAUTHORIZED', 'Sign in first');
      }
      if (actor.type === 'user') handler.calls.take(actor.userId);
      if (ctx.method === 'GET') rejectCrossSite(ctx.req);
      else rejectCrossSiteChange(ctx.req, handler.baseUrl);
      rejectRepeatedParameters(ctx.querystring);
      assertDeclaredLength(ctx.req, BODY_BYTES);
      // tRPC refuses a batch before it has a context, and so without the id of the request.
      if (ctx.query.batch === '1')
        throw badRequest('Batching is off: call each procedure in a request of its own');
      const inner = handler.context(ctx, actor);
      const path = procedureName(ctx.path);
      ctx.respond = false;
      ctx.res.statusCode = 200;
      await nodeHTTPRequestHandler({
        router: appRouter,
        req: ctx.req,
        res: ctx.res,
        path,
        createContext: async () => ({ ctx: inner, execute: handler.execute }),
        allowBatching: false,
        maxBodySize: BODY_BYTES,
        responseMeta: ({ errors }) => ({ headers: retryAfter(errors[0]?.cause) }),
        onError({ error, path }) {
          if (error.code === 'INTERNAL_SERVER_ERROR') {
            handler.log.error(
              { requestId: inner.requestId, procedure: path, err: error.cause ?? error },
              'procedure failed',
            );
          }
        },
      });
    } catch (thrown) {
      const error = unlessAway(thrown);
      const { requestId } = ctx.state;
      const known = error instanceof DomainError;
      if (!known) handler.log.error({ requestId, path: ctx.path, err: error }, 'request failed');
      const { message, code, status } = known ? error : FAULT;
      ctx.respond = true;
      ctx.status = status;
      ctx.set(retryAfter(error));
      ctx.body = {
        error: {
          json: { message, code: NUMBERS[code] ?? -32_603, data: { code, httpStatus: status, requestId } },
        },
      };
    }
  };
}

function refuseMethod(ctx: Context): void {
  const methods = methodsOf(ctx.path);
  const message = `Queries are called by GET, mutations by POST; this address takes ${methods.join(' and ')}`;
  ctx.set('Allow', methods.join(', '));
  ctx.status = ctx.method === 'OPTIONS' ? 204 : 405;
  if (ctx.status === 204) return;
  const data = { code: 'METHOD_NOT_SUPPORTED', httpStatus: 405, requestId: ctx.state.requestId };
  ctx.body = { error: { json: { message, code: -32_005, data } } };
}

function methodsOf(path: string): string[] {
  const known = appRouter._def.procedures as object as Record<string, { _def: { type: string } }>;
  const name = path.slice(PREFIX.length);
  if (!Object.hasOwn(known, name)) return METHODS;
  return [known[name]?._def.type === 'query' ? 'GET' : 'POST'];
}

function retryAfter(error: unknown): Record<string, string> {
  const seconds = error instanceof DomainError ? error.details?.retryAfterSeconds : undefined;
  return typeof seconds === 'number' ? { 'Retry-After': String(seconds) } : {};
}

function procedureName(path: string): string {
  try {
    return decodeURIComponent(path.slice(PREFIX.length));
  } catch {
    throw badRequest('The path is not percent-encoded correctly');
  }
}
