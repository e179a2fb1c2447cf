/** The built UI: hashed files for ever, the page itself never from a cache. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Middleware } from 'koa';
import sirv from 'sirv';

const NOT_PAGES = ['/api/', '/git/', '/schemas/', '/agent/'];

export function webRoutes(folder: string): Middleware {
  if (!existsSync(join(folder, 'index.html'))) {
    return async (ctx, next) => {
      if (ctx.method !== 'GET' || NOT_PAGES.some((prefix) => ctx.path.startsWith(prefix))) return next();
      ctx.status = 503;
      ctx.type = 'text/plain';
      ctx.body = 'The web UI is not built yet. Build it with: make build\n';
    };
  }
  const serve = sirv(folder, {
    single: true,
    gzip: true,
    brotli: true,
    etag: true,
    setHeaders(res, path) {
      res.setHeader(
        'Cache-Control',
        path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      );
    },
  });
  return async (ctx, next) => {
    const page = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (!page || NOT_PAGES.some((prefix) => ctx.path.startsWith(prefix))) return next();
    ctx.respond = false;
    ctx.res.statusCode = 200;
    await new Promise<void>((resolve) => {
      ctx.res.once('close', resolve);
      serve(ctx.req, ctx.res, () => {
        ctx.res.statusCode = 404;
        ctx.res.end('Not found\n');
      });
    });
  };
}
