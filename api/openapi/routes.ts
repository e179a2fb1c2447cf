import { createHash } from 'node:crypto';
import type { Middleware } from 'koa';
import type { ErrorCode } from '../../schemas/api/error-codes.ts';
import type { RequestHandler } from '../handler.ts';
import { openToEveryOrigin } from '../middleware/security-headers.ts';
import { describeApi } from './document.ts';

const PATH = '/api/v1/openapi.json';
const METHODS = 'GET, HEAD, OPTIONS';

/** Open to every origin and without a key: it tells nothing of what is stored here. */
export function openApiRoutes(handler: RequestHandler): Middleware {
  let rendered: { text: string; etag: string } | undefined;
  /** On the first request: it takes a tenth of a second, which a start would wait for. */
  const render = () => {
    const text = JSON.stringify(describeApi({ baseUrl: handler.baseUrl, cookieName: handler.cookie.name }));
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
    return { text, etag };
  };

  return async (ctx, next) => {
    if (ctx.path !== PATH) return next();
    openToEveryOrigin(ctx);
    if (ctx.method === 'OPTIONS') {
      ctx.set('Allow', METHODS);
      ctx.set('Access-Control-Allow-Methods', METHODS);
      ctx.set('Access-Control-Allow-Headers', '*');
      ctx.status = 204;
      return;
    }
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', METHODS);
      ctx.status = 405;
      const code: ErrorCode = 'METHOD_NOT_SUPPORTED';
      ctx.body = { error: `${ctx.method} is not for ${PATH}; it takes ${METHODS}`, code };
      return;
    }
    rendered ??= render();
    ctx.set('Access-Control-Expose-Headers', 'ETag');
    ctx.set('Cache-Control', 'no-cache');
    ctx.set('ETag', rendered.etag);
    ctx.status = 200;
    if (ctx.fresh) {
      ctx.status = 304;
      return;
    }
    ctx.type = 'application/json';
    ctx.body = rendered.text;
  };
}
