/** The session cookie, and the checks that keep other sites from using it. */
import type { IncomingMessage } from 'node:http';
import type { Knex } from 'knex';
import type { Context as KoaContext } from 'koa';
import { actorOfSession } from '../../controller/access/index.ts';
import type { Actor } from '../../controller/platform/context.ts';
import { badRequest, forbidden } from '../../controller/platform/errors.ts';

export interface SessionCookie {
  name: string;
  read(ctx: KoaContext): string | undefined;
  write(ctx: KoaContext, token: string, expires: Date): void;
  clear(ctx: KoaContext): void;
}

/** `__Host-` binds the cookie to this very host; browsers take that prefix over https only. */
export function createSessionCookie(baseUrl: string): SessionCookie {
  const secure = baseUrl.startsWith('https:');
  const name = secure ? '__Host-headgate.session-token' : 'headgate.session-token';
  const options = {
    httpOnly: true,
    sameSite: 'lax' as const,
    path: '/',
    secure,
    signed: false,
    overwrite: true,
  };
  return {
    name,
    read: (ctx) => ctx.cookies.get(name),
    write(ctx, token, expires) {
      // Behind a proxy the connection itself is plain; the base URL tells what the browser sees.
      ctx.cookies.secure = secure;
      ctx.cookies.set(name, token, { ...options, expires });
    },
    clear(ctx) {
      ctx.cookies.secure = secure;
      ctx.cookies.set(name, null, options);
    },
  };
}

export async function readActor(db: Knex, cookie: SessionCookie, ctx: KoaContext): Promise<Actor> {
  const token = cookie.read(ctx);
  return (token && (await actorOfSession(db, token))) || { type: 'anonymous' };
}

/** A change needs a JSON content type, which a form cannot send, and, from a browser, an origin that is ours. */
export function refuseForeignChange(request: IncomingMessage, baseUrl: string): void {
  const type = String(request.headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  if (type !== 'application/json') throw badRequest('Content-Type must be application/json');
  const site = request.headers['sec-fetch-site'];
  if (site === 'cross-site') throw forbidden('This request came from another site');
  const { origin, host } = request.headers;
  if (origin === undefined) return;
  const allowed = [new URL(baseUrl).origin, `http://${host}`, `https://${host}`];
  if (!allowed.includes(origin)) throw forbidden('This request came from another site');
}
