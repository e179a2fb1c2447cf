/** One request of a row that was found: its input, the operation, and the answer with its headers. */
import type { Knex } from 'knex';
import type { Context as KoaContext } from 'koa';
import type { ServiceAccountActor } from '../../controller/identity/access/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import { badRequest } from '../../controller/platform/operation/errors.ts';
import { becameOf } from '../../schemas/api/delivery/git-words.ts';
import type { RequestHandler } from '../handler.ts';
import type { ErrorResponse } from '../middleware/request.ts';
import { assertMatch, entityTag, isFresh, stateTag, tagsOf } from './etag.ts';
import { idempotencyKey, onlyOnce, type StoredResponse } from './idempotency.ts';
import { pageOf } from './paging.ts';
import { readBody, readQuery } from './read-input.ts';
import { idOf, type RestRequest, type RestRow } from './row.ts';

/** Accepted: it follows once git was applied. */
const GONE_TO_GIT = 202;
const API = '/api/v1';
const MOST_ID = 64;

interface Options {
  handler: RequestHandler;
  ctx: KoaContext;
  actor: ServiceAccountActor;
  apiKey: string;
  row: RestRow;
  params: Record<string, string>;
  failed: (error: unknown) => ErrorResponse;
}

export async function handleRow(options: Options): Promise<void> {
  const { handler, ctx, actor, row, params } = options;
  const context = handler.context(ctx, actor);
  assertIds(params);
  const request: RestRequest = {
    ctx: context,
    environmentId: actor.environmentId,
    params,
    query: readQuery(row.query, ctx.querystring),
    body: await readBody(row.body, ctx.req, row.bodyBytes),
  };
  if (row.method === 'GET') return answerRead(options, context, request);
  const { answer, replayed } = await change(options, context, request);
  ctx.status = answer.status;
  ctx.type = 'application/json';
  if (replayed) ctx.set('Idempotent-Replayed', 'true');
  const isRowsOwn = answer.status === row.status;
  if (row.location && answer.status === 201)
    ctx.set('Location', `${API}${row.location(JSON.parse(answer.body), request)}`);
  ctx.body =
    row.followUp && isRowsOwn
      ? JSON.stringify(await row.followUp(JSON.parse(answer.body), request, handler.execute))
      : answer.body;
}

/** Of the address: the state of an object is read before the operation looks at its input. */
function assertIds(params: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(params))
    if (value.length > MOST_ID || /[\p{Cc}\p{Cs}]/u.test(value))
      throw badRequest(
        `${name} in the address must be 1 to ${MOST_ID} characters without control characters`,
      );
}

async function answerRead({ handler, ctx, row }: Options, context: Context, request: RestRequest) {
  const tags = tagsOf(ctx.headers['if-none-match'], 'If-None-Match');
  const of = { id: idOf(request), environmentId: request.environmentId };
  // Before the answer: an older state beside a newer answer refuses a change at worst, and loses none.
  const state = row.state ? await stateTag(handler.db, row.state, of, { lock: false }) : null;
  const output = await handler.execute(row.operation, context, await row.input(request));
  const whole = row.output(output, request) as Record<string, unknown>;
  const body = JSON.stringify(row.paged ? pageOf(whole, row.paged, request.query as object) : whole);
  const etag = entityTag(body, state);
  ctx.set('ETag', etag);
  ctx.status = isFresh(tags, etag) ? 304 : row.status;
  if (ctx.status === 304) return;
  ctx.type = 'application/json';
  ctx.body = body;
}

async function change(
  { handler, ctx, actor, apiKey, row, failed }: Options,
  context: Context,
  request: RestRequest,
): Promise<{ answer: StoredResponse; replayed: boolean }> {
  const key = idempotencyKey(ctx.headers['idempotency-key']?.toString());
  const tags = row.state ? tagsOf(ctx.headers['if-match'], 'If-Match') : null;
  const of = { id: idOf(request), environmentId: request.environmentId };
  const { state } = row;
  const matching: Partial<Context> =
    tags && state
      ? {
          precondition: (db: Knex) => assertMatch(db, state, of, tags, { lock: false }),
          fence: (tx: Knex) => assertMatch(tx, state, of, tags, { lock: true }),
        }
      : {};
  const answerOf = (output: unknown): StoredResponse => {
    const became = becameOf(output);
    return became
      ? { status: GONE_TO_GIT, body: JSON.stringify(became) }
      : { status: row.status, body: JSON.stringify(row.output(output, request)) };
  };
  const input = await row.input(request);
  if (key === null) {
    const output = await handler.execute(row.operation, { ...context, ...matching }, input);
    return { answer: answerOf(output), replayed: false };
  }
  return onlyOnce(
    {
      db: handler.db,
      log: handler.log,
      serviceAccountId: actor.id,
      apiKey,
      key,
      request: {
        method: row.method,
        path: ctx.path,
        // What only says how long to wait makes no other request.
        ...(ctx.querystring === '' || row.followUp ? {} : { query: ctx.querystring }),
        body: request.body,
      },
      refusal: failed,
    },
    async (settle) => {
      const settled = {
        ...context,
        ...matching,
        settle: (tx: Knex, output: unknown) => settle(tx, answerOf(output)),
      };
      return answerOf(await handler.execute(row.operation, settled, input));
    },
  );
}
