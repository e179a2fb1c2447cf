/** The session cookie, and the checks that keep other sites from using it. */
import type { IncomingMessage } from 'node:http';
import type { Knex } from 'knex';
import type { Context as KoaContext } from 'koa';
import { actorOfSession } from '../../controller/identity/access/index.ts';
import type { Actor } from '../../controller/platform/operation/context.ts';
import { DomainError, forbidden } from '../../controller/platform/operation/errors.ts';
import { type Cookie, createCookie } from './cookie.ts';

export const createSessionCookie = (baseUrl: string): Cookie =>
  createCookie(baseUrl, 'headgate.session-token');

export async function readActor(db: Knex, cookie: Cookie, ctx: KoaContext): Promise<Actor> {
  const token = cookie.read(ctx);
  return (token && (await actorOfSession(db, token))) || { type: 'anonymous' };
}

/** A change needs a JSON content type, which a form cannot send, and, from a browser, an origin that is ours. */
export function rejectCrossSiteChange(request: IncomingMessage, baseUrl: string): void {
  const type = String(request.headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  if (type !== 'application/json')
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json');
  const site = request.headers['sec-fetch-site'];
  if (site === 'cross-site') throw forbidden('This request came from another site');
  const { origin, host } = request.headers;
  if (origin === undefined) return;
  // Where browsers come by https, a page that came without it is somebody else's.
  const plain = baseUrl.startsWith('https:') ? [] : [`http://${host}`];
  const allowed = [new URL(baseUrl).origin, `https://${host}`, ...plain];
  if (!allowed.includes(origin)) throw forbidden('This request came from another site');
}
