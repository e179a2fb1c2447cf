/**
 * `/mcp`: the tools of agents by the Model Context Protocol, streamable HTTP without sessions. Each POST is answered with JSON;
 * the server sends nothing by itself, so there is nothing to GET.
 */
import { Readable } from 'node:stream';
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Context as KoaContext, Middleware } from 'koa';
import { badRequest, DomainError, forbidden } from '../../controller/platform/operation/errors.ts';
import type { RequestHandler } from '../handler.ts';
import { readJson } from '../middleware/body.ts';
import { perMinute, type RateLimit } from '../middleware/rate-limit.ts';
import { toErrorResponse } from '../middleware/request.ts';
import { createAgentServer } from './server.ts';
import { type AgentCaller, readAgentToken } from './token.ts';
import { type AgentTool, createTools, DEFAULT_LIST, TOOL_LISTS, type ToolList } from './tools.ts';

export const MCP_PATH = '/mcp';
/** As an engine config may be large. */
const BODY_BYTES = 4 * 1024 * 1024;
/** Of one token; a batch counts as many as it has. */
const REQUESTS_PER_MINUTE = 600;
const BATCH = 20;

export function mcpRoutes(handler: RequestHandler): Middleware {
  const limit = perMinute(REQUESTS_PER_MINUTE);
  let tools: ReadonlyMap<string, AgentTool> | undefined;

  return async (ctx, next) => {
    if (ctx.path !== MCP_PATH) return next();
    ctx.set('Cache-Control', 'no-store');
    try {
      assertOwnOrigin(ctx, handler.baseUrl);
      if (ctx.method !== 'POST') return refuseMethod(ctx);
      const caller = await readAgentToken(handler, ctx);
      const lists = readLists(ctx);
      const body = await readMessage(ctx, limit, caller.key);
      // Some thousand schemas, which a controller without agents need not hold.
      tools ??= createTools();
      await respond(ctx, await answer(handler, ctx, { tools, lists, caller, body }));
    } catch (error) {
      respondWithProtocolError(handler, ctx, error);
    }
  };
}

/** Other origins are refused, also where DNS points their name here: browsers send Origin with every POST. */
function assertOwnOrigin(ctx: KoaContext, baseUrl: string): void {
  const { origin, 'sec-fetch-site': site } = ctx.headers;
  const isForeign = site === 'cross-site' || site === 'same-site';
  if (isForeign || (origin !== undefined && origin !== new URL(baseUrl).origin))
    throw forbidden('This request came from a page of another site');
}

function refuseMethod(ctx: KoaContext): void {
  ctx.set('Allow', 'POST');
  ctx.status = 405;
  ctx.body = rpcError(
    -32000,
    `${ctx.method} is not for ${MCP_PATH}: there are no sessions, and no streams to read`,
  );
}

function readLists(ctx: KoaContext): readonly ToolList[] {
  const asked = ctx.query.tools;
  if (asked === undefined) return [DEFAULT_LIST];
  const names = [asked]
    .flat()
    .flatMap((one) => one.split(','))
    .map((one) => one.trim())
    .filter((one) => one !== '');
  const lists = TOOL_LISTS.filter((list) => names.includes(list));
  const unknown = names.find((name) => !TOOL_LISTS.some((list) => list === name));
  if (unknown !== undefined || lists.length === 0)
    throw badRequest(`tools=${unknown?.slice(0, 50) ?? ''} is not known; there are ${TOOL_LISTS.join(', ')}`);
  return lists;
}

async function readMessage(ctx: KoaContext, limit: RateLimit, key: string): Promise<unknown> {
  limit.check(key);
  if (!ctx.is('application/json'))
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json');
  const body = await readJson(ctx.req, BODY_BYTES);
  const count = Array.isArray(body) ? body.length : 1;
  if (count > BATCH) throw badRequest(`A batch has at most ${BATCH} messages`);
  for (let taken = 0; taken < count; taken += 1) limit.take(key);
  return body;
}

interface Exchange {
  tools: ReadonlyMap<string, AgentTool>;
  lists: readonly ToolList[];
  caller: AgentCaller;
  body: unknown;
}

/** Clients of 2025 begin with `initialize` and are answered by the transport of their time; later ones by the handler of the SDK. */
async function answer(handler: RequestHandler, ctx: KoaContext, exchange: Exchange): Promise<Response> {
  const { tools, lists, caller, body } = exchange;
  const { actor, tokenName, mayWrite } = caller;
  const context = { ...handler.context(ctx, actor), via: { transport: 'mcp', token: tokenName } };
  const server = () =>
    createAgentServer({
      tools,
      lists,
      caller: { context, execute: handler.execute, log: handler.log, mayWrite },
    });
  const request = new Request(new URL(ctx.originalUrl, handler.baseUrl), {
    method: 'POST',
    headers: headersOf(ctx),
    signal: context.signal,
  });
  if (await isLegacyRequest(request, body)) {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: true,
    });
    const legacy = server();
    await legacy.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody: body });
    context.signal.addEventListener('abort', () => void legacy.close(), { once: true });
    return response;
  }
  // Answered with JSON, since no tool reports its progress. Lists of tools do not change while a controller runs: there is nothing to subscribe to.
  const modern = createMcpHandler(server, { legacy: 'reject', maxSubscriptions: 0 });
  return modern.fetch(request, { parsedBody: body });
}

function headersOf(ctx: KoaContext): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(ctx.headers)) {
    // The body was read, and the token is nobody else's to see.
    if (value === undefined || ['authorization', 'cookie', 'content-length'].includes(name)) continue;
    headers.set(name, [value].flat().join(', '));
  }
  return headers;
}

async function respond(ctx: KoaContext, response: Response): Promise<void> {
  ctx.status = response.status;
  for (const [name, value] of response.headers) if (name !== 'content-length') ctx.set(name, value);
  if (response.body === null) {
    ctx.body = null;
    ctx.status = response.status;
    return;
  }
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  ctx.body = isStream ? Readable.fromWeb(response.body as never) : await response.text();
}

/** What no use case has refused: the token, the origin, the form of the request. */
function respondWithProtocolError(handler: RequestHandler, ctx: KoaContext, error: unknown): void {
  const { requestId } = ctx.state;
  if (error instanceof DomainError && error.code === 'UNAUTHORIZED') {
    handler.anonymousLimit.take(ctx.state.ipAddress);
    ctx.set('WWW-Authenticate', 'Bearer realm="Headgate"');
  }
  const { status, headers, body } = toErrorResponse(error, { requestId, path: ctx.path, log: handler.log });
  ctx.status = status;
  ctx.set(headers);
  ctx.body = rpcError(-32000, String(body.error));
}

const rpcError = (code: number, message: string) => ({ jsonrpc: '2.0', error: { code, message }, id: null });
