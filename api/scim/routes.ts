/** SCIM 2.0: an identity provider keeps users and groups here. Finds the row and the caller, and lets the row do the rest. */
import type { Context as KoaContext, Middleware } from 'koa';
import { addRefusal, isScimToken, SCIM_PATH, scimBaseUrl } from '../../controller/identity/scim/index.ts';
import { messageOf, notFound, unauthorized } from '../../controller/platform/operation/errors.ts';
import type { RequestHandler } from '../handler.ts';
import { perMinute } from '../middleware/rate-limit.ts';
import { ScimError, scimError } from './errors.ts';
import { NOT_IMPLEMENTED, SCIM_ROWS, type ScimRow } from './rows.ts';

/** First syncs send thousands of requests. */
const REQUESTS_PER_MINUTE = 3_000;
/** Addresses that are mistaken for that of SCIM: the answer names the right one, in JSON. */
const NEAR = ['/api/scim', '/scim'];
const ID = /^[\w-]{1,64}$/;
const LONGEST_PATH = 500;
const DETAIL_LENGTH = 500;

export function scimRoutes(handler: RequestHandler): Middleware {
  const limit = perMinute(REQUESTS_PER_MINUTE);
  const baseUrl = scimBaseUrl(handler.baseUrl);

  return async (ctx, next) => {
    if (!NEAR.some((path) => ctx.path === path || ctx.path.startsWith(`${path}/`))) return next();
    ctx.set('Cache-Control', 'no-store');
    let known = false;
    try {
      const found = findRow(ctx.method, ctx.path);
      if (found === null) throw new ScimError(404, nothingAt(ctx, baseUrl));
      if ('allowed' in found) return refuseMethod(ctx, found.allowed);
      await refuseUnknown(handler, ctx);
      known = true;
      limit.take('scim');
      // An id that none has is not asked for.
      if (found.row.path.startsWith('/Users/:') && !ID.test(found.id)) throw notFound('User');
      if (found.row.path.startsWith('/Groups/:') && !ID.test(found.id)) throw notFound('Group');
      const { status, body, location } = await found.row.answer({
        ctx: handler.context(ctx, { type: 'scim' }),
        execute: handler.execute,
        baseUrl,
        id: found.id,
        querystring: ctx.querystring,
        message: ctx.req,
      });
      ctx.status = status;
      if (location !== undefined) ctx.set('Location', location);
      if (body) send(ctx, body);
    } catch (error) {
      const { requestId } = ctx.state;
      const { status, headers, body } = scimError(error, { requestId, path: ctx.path, log: handler.log });
      ctx.status = status;
      ctx.set(headers);
      send(ctx, body);
      await noteRefusal(handler, ctx, known, body);
    }
  };
}

/**
 * One line in the log, and, of a request with the token, one in the settings. A row that cannot be written is not missed.
 * Requests over the rate limit are not recorded: the records would need a limit of their own.
 */
async function noteRefusal(
  handler: RequestHandler,
  ctx: KoaContext,
  known: boolean,
  { scimType, detail }: Record<string, unknown>,
): Promise<void> {
  const { status, method } = ctx;
  if (status === 429) return;
  const path = ctx.path.replace(SCIM_PATH, '').slice(0, LONGEST_PATH) || '/';
  const refusal = {
    ...{ method, path, status },
    scimType: typeof scimType === 'string' ? scimType : null,
    detail: String(detail).slice(0, DETAIL_LENGTH),
  };
  handler.log.info(refusal, 'a SCIM request was refused');
  if (!known) return;
  const context = handler.context(ctx, { type: 'scim' });
  await addRefusal(context.db, { at: new Date(context.clock.now()), ...refusal }).catch((error: unknown) =>
    handler.log.warn({ reason: messageOf(error) }, 'a refusal of SCIM could not be kept'),
  );
}

/** Always of this type, whatever is accepted: Microsoft's guide for Entra ID wants it of all answers. */
function send(ctx: KoaContext, body: object): void {
  ctx.set('Content-Type', 'application/scim+json; charset=utf-8');
  ctx.body = JSON.stringify(body);
}

/** A session cookie is no token here, so no other site can use one that a browser has. One answer for every wrong token. */
async function refuseUnknown(handler: RequestHandler, ctx: KoaContext): Promise<void> {
  const token = /^Bearer +(\S+) *$/i.exec(ctx.get('authorization'))?.[1];
  if (token !== undefined && (await isScimToken(handler.context(ctx, { type: 'anonymous' }), token))) return;
  handler.anonymousLimit.take(ctx.state.ipAddress);
  if (token === undefined) throw unauthorized('Send the SCIM token: Authorization: Bearer scim_…');
  throw unauthorized(
    'This token is not known, or SCIM is switched off; a super admin makes a new one in the settings',
  );
}

type Found = { row: ScimRow; id: string };

/** Null where no row has the path, the methods that it has where none has this one. */
function findRow(method: string, path: string): Found | { allowed: string[] } | null {
  if (path.length > LONGEST_PATH) return null;
  // A base URL that was entered with a slash at its end comes with two.
  const parts = path.split('/').filter(Boolean);
  const base = SCIM_PATH.split('/').filter(Boolean);
  if (!base.every((part, index) => parts[index] === part)) return null;
  const below = parts.slice(base.length);
  const matching = [...SCIM_ROWS, ...NOT_IMPLEMENTED].flatMap((row) => {
    const id = match(row.path.split('/').slice(1), below);
    return id === null ? [] : [{ row, id }];
  });
  // `/Users/.search` is no id.
  const exact = matching.filter(({ row }) => !row.path.includes(':'));
  const rows = exact.length > 0 ? exact : matching;
  if (rows.length === 0) return null;
  const wanted = method === 'HEAD' ? 'GET' : method;
  const methods: string[] = rows.map(({ row }) => row.method);
  return (
    rows.find(({ row }) => row.method === wanted) ?? {
      allowed: [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'],
    }
  );
}

/** The id, `''` where the path has none; null where it does not fit. */
function match(names: readonly string[], parts: readonly string[]): string | null {
  if (names.length !== parts.length) return null;
  let id = '';
  for (const [index, name] of names.entries()) {
    const part = parts[index] ?? '';
    if (!name.startsWith(':')) {
      if (name !== part) return null;
      continue;
    }
    try {
      id = decodeURIComponent(part);
    } catch {
      return null;
    }
  }
  return id;
}

function refuseMethod(ctx: KoaContext, allowed: readonly string[]): void {
  ctx.set('Allow', allowed.join(', '));
  if (ctx.method === 'OPTIONS') {
    ctx.status = 204;
    return;
  }
  throw new ScimError(
    405,
    `${ctx.method} is not for ${ctx.path.slice(0, 200)}; it takes ${allowed.join(', ')}`,
  );
}

const nothingAt = (ctx: KoaContext, baseUrl: string): string =>
  `Nothing is at ${ctx.method} ${ctx.path.slice(0, 200)}; the base URL of SCIM is ${baseUrl}`;
