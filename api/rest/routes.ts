/** The REST interface: finds the row, the key and the input, and lets the operation do the rest. */
import type { Context as KoaContext, Middleware } from 'koa';
import { actorOfApiKey, type ServiceAccountActor } from '../../controller/access/index.ts';
import { unauthorized } from '../../controller/platform/errors.ts';
import { becameOf } from '../../schemas/api/git-words.ts';
import type { Door } from '../door.ts';
import { perMinute } from '../middleware/rate-limit.ts';
import { RestRefusal, restError } from './answers.ts';
import { idempotencyKey, onlyOnce, type StoredAnswer } from './idempotency.ts';
import { readBody, readQuery } from './input.ts';
import type { RestRequest, RestRow } from './row.ts';
import { REST_ROWS } from './rows.ts';

export const REST_PREFIX = '/api/v1';
/** Accepted: it follows once git was applied. */
const GONE_TO_GIT = 202;
/** Of one key. */
const REQUESTS_PER_MINUTE = 600;

export function restRoutes(door: Door): Middleware {
  const limit = perMinute(REQUESTS_PER_MINUTE);

  return async (ctx, next) => {
    if (ctx.path !== REST_PREFIX && !ctx.path.startsWith(`${REST_PREFIX}/`)) return next();
    ctx.set('Cache-Control', 'no-store');
    const failed = (error: unknown) =>
      restError(error, { requestId: ctx.state.requestId, path: ctx.path, log: door.log });
    try {
      const found = findRow(ctx.method, ctx.path.slice(REST_PREFIX.length));
      if (found === null) throw new RestRefusal(404, nothingAt(ctx));
      if ('allowed' in found) return refuseMethod(ctx, found.allowed);
      const { actor, apiKey } = await caller(door, ctx);
      limit.take(actor.id);
      const { answer, replayed } = await run({ door, ctx, actor, apiKey, ...found, failed });
      ctx.status = answer.status;
      ctx.type = 'application/json';
      if (replayed) ctx.set('Idempotent-Replayed', 'true');
      ctx.body = answer.body;
    } catch (error) {
      const { status, headers, body } = failed(error);
      ctx.status = status;
      ctx.set(headers);
      ctx.body = body;
    }
  };
}

async function run(options: {
  door: Door;
  ctx: KoaContext;
  actor: ServiceAccountActor;
  apiKey: string;
  row: RestRow;
  params: Record<string, string>;
  failed: (error: unknown) => ReturnType<typeof restError>;
}): Promise<{ answer: StoredAnswer; replayed: boolean }> {
  const { door, ctx, actor, row, params } = options;
  const context = door.context(ctx, actor);
  const key = row.method === 'POST' ? idempotencyKey(ctx.headers['idempotency-key']?.toString()) : null;
  const request: RestRequest = {
    ctx: context,
    environmentId: actor.environmentId,
    params,
    query: readQuery(row.query, ctx.querystring),
    body: await readBody(row.body, ctx.req, row.bodyBytes),
  };
  const answerOf = (output: unknown): StoredAnswer => {
    const became = becameOf(output);
    return became
      ? { status: GONE_TO_GIT, body: JSON.stringify(became) }
      : { status: row.status, body: JSON.stringify(row.output(output, request)) };
  };
  const input = await row.input(request);
  if (key === null) {
    return { answer: answerOf(await door.execute(row.operation, context, input)), replayed: false };
  }
  return onlyOnce(
    {
      db: door.db,
      log: door.log,
      serviceAccountId: actor.id,
      apiKey: options.apiKey,
      key,
      request: { method: row.method, path: ctx.path, body: request.body },
      refusal: options.failed,
    },
    async (settle) => {
      const settled = {
        ...context,
        settle: (tx: typeof door.db, output: unknown) => settle(tx, answerOf(output)),
      };
      return answerOf(await door.execute(row.operation, settled, input));
    },
  );
}

/** A session cookie is no key here, so no other site can use one that a browser has. */
async function caller(door: Door, ctx: KoaContext): Promise<{ actor: ServiceAccountActor; apiKey: string }> {
  const apiKey = /^Bearer +(\S+) *$/i.exec(ctx.get('authorization'))?.[1];
  if (apiKey === undefined) {
    door.strangers.take(ctx.state.ipAddress);
    throw unauthorized('Send the key of a service account: Authorization: Bearer svc_…');
  }
  const actor = await actorOfApiKey(
    { ...door.context(ctx, { type: 'anonymous' }), db: door.essential },
    apiKey,
  );
  if (!actor) {
    door.strangers.take(ctx.state.ipAddress);
    throw unauthorized('This key is not known, has expired or was revoked');
  }
  return { actor, apiKey };
}

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
  throw new RestRefusal(
    405,
    `${ctx.method} is not for ${ctx.path.slice(0, 200)}; it takes ${allowed.join(', ')}`,
  );
}

const nothingAt = (ctx: KoaContext): string =>
  `Nothing is at ${ctx.method} ${ctx.path.slice(0, 200)}; ${REST_PREFIX}/openapi.json tells what there is`;
