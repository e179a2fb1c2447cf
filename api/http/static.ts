/** The built UI: hashed files for ever, the page itself never from a cache. */
import { existsSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context, Middleware } from 'koa';
import sirv from 'sirv';
import { pagePolicy } from '../middleware/security-headers.ts';

const NOT_PAGES = ['/api/', '/git/', '/schemas/', '/agent/'];
/** Where the nonce of an answer goes, in index.html as it is built. */
const NONCE = 'nonce=""';

const isFile = (path: string): boolean => path.startsWith('/assets/') || FILE.test(path);
/** The last part of the path has an extension. */
const FILE = /\.\w{1,8}$/;

export function webRoutes(folder: string): Middleware {
  const index = join(folder, 'index.html');
  if (!existsSync(index)) {
    return async (ctx, next) => {
      if (ctx.method !== 'GET' || NOT_PAGES.some((prefix) => ctx.path.startsWith(prefix))) return next();
      ctx.status = 503;
      ctx.type = 'text/plain';
      ctx.body = 'The web UI is not built yet. Build it with: make build\n';
    };
  }
  const html = readFileSync(index, 'utf8');
  const serve = sirv(folder, {
    // Requests for no file are answered here: the expressions that sirv knows one by take exponential time on `/a.aa.aa.aa…!`.
    single: false,
    ignores: false,
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
    if (!isFile(ctx.path) || ctx.path === '/index.html') return sendPage(ctx, html);
    // sirv knows the files that were there at the start, and the failure to open one that an upgrade in place has taken away
    // would end the process.
    if (!(await isThere(folder, ctx.path))) {
      ctx.status = 404;
      ctx.type = 'text/plain';
      ctx.body = 'Not found\n';
      return;
    }
    ctx.respond = false;
    ctx.res.statusCode = 200;
    await new Promise<void>((resolve) => {
      ctx.res.once('close', resolve);
      serve(ctx.req, ctx.res, () => {
        ctx.res.statusCode = 404;
        ctx.res.setHeader('Content-Type', 'text/plain; charset=utf-8');
        ctx.res.end('Not found\n');
      });
    });
  };
}

async function isThere(folder: string, path: string): Promise<boolean> {
  try {
    return (await stat(join(folder, decodeURIComponent(path)))).isFile();
  } catch {
    return false;
  }
}

function sendPage(ctx: Context, html: string): void {
  const { nonce, policy } = pagePolicy();
  ctx.set('Content-Security-Policy', policy);
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = html.replace(NONCE, `nonce="${nonce}"`);
}
