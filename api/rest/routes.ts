/** The REST interface: finds the row, the key and the input, and lets the operation do the rest. */
import type { Context as KoaContext, Middleware } from 'koa';
import type { RequestHandler } from '../handler.ts';
import { readApiKey } from '../middleware/api-key.ts';
import { perMinute, type RateLimitState } from '../middleware/rate-limit.ts';
import { handleRow } from './answer-row.ts';
import { RestError, restError } from './rest-error.ts';
import type { RestRow } from './row.ts';
import { REST_ROWS } from './rows.ts';

export const REST_PREFIX = '/api/v1';
/** Of one key. */
const REQUESTS_PER_MINUTE = 600;

export function restRoutes(handler: RequestHandler): Middleware {
  const limit = perMinute(REQUESTS_PER_MINUTE);

  return async (ctx, next) => {
    if (ctx.path !== REST_PREFIX && !ctx.path.startsWith(`${REST_PREFIX}/`)) return next();
    ctx.set('Cache-Control', 'no-store');
    const failed = (error: unknown) =>
      restError(error, { requestId: ctx.state.requestId, path: ctx.path, log: handler.log });
    try {
      const found = findRow(ctx.method, ctx.path.slice(REST_PREFIX.length));
      if (found === null) throw new RestError('NOT_FOUND', nothingAt(ctx));
      if ('allowed' in found) return refuseMethod(ctx, found.allowed);
      const { actor, apiKey } = await readApiKey(handler, ctx);
      try {
        limit.take(actor.id);
      } finally {
        ctx.set(rateLimitHeaders(limit.state(actor.id)));
      }
      await handleRow({ handler, ctx, actor, apiKey, ...found, failed });
    } catch (error) {
      const { status, headers, body } = failed(error);
      ctx.status = status;
      ctx.set(headers);
      ctx.body = body;
    }
  };
}

/** RateLimit fields as draft-ietf-httpapi-ratelimit-headers-10 writes them (sections 3 and 4): structured lists of one policy. */
const rateLimitHeaders = ({ points, windowSeconds, remaining, resetSeconds }: RateLimitState) => ({
  'RateLimit-Policy': `"key";q=${points};w=${windowSeconds}`,
  RateLimit: `"key";r=${remaining};t=${resetSeconds}`,
});

type Found = { row: RestRow; params: Record<string, string> };

/** Null where no row has the path, the methods that it has where none has this one. */
function findRow(method: string, path: string): Found | { allowed: string[] } | null {
  const matching = REST_ROWS.flatMap((row) => {
    const params = match(row.path, path);
    return params ? [{ row, params }] : [];
  });
  if (matching.length === 0) return null;
  const wanted = method === 'HEAD' ? 'GET' : method;
  const methods: string[] = matching.map(({ row }) => row.method);
  return (
    matching.find(({ row }) => row.method === wanted) ?? {
      allowed: [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'],
    }
  );
}

/** The parameters of `path` by the names that `pattern` gives them; null where it does not fit. */
function match(pattern: string, path: string): Record<string, string> | null {
  const names = pattern.split('/');
  const parts = path.split('/');
  if (names.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const part = parts[index] ?? '';
    if (!name.startsWith('{')) {
      if (name !== part) return null;
      continue;
    }
    if (part === '') return null;
    try {
      params[name.slice(1, -1)] = decodeURIComponent(part);
    } catch {
      return null;
    }
  }
  return params;
}

function refuseMethod(ctx: KoaContext, allowed: readonly string[]): void {
  ctx.set('Allow', allowed.join(', '));
  if (ctx.method === 'OPTIONS') {
    ctx.status = 204;
    return;
  }
  throw new RestError(
    'METHOD_NOT_SUPPORTED',
    `${ctx.method} is not for ${ctx.path.slice(0, 200)}; it takes ${allowed.join(', ')}`,
  );
}

const nothingAt = (ctx: KoaContext): string =>
  `Nothing is at ${ctx.method} ${ctx.path.slice(0, 200)}; ${REST_PREFIX}/openapi.json tells what there is`;
