/** Request id, client address, and the last-resort error answer. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { Middleware } from 'koa';
import { unlessAway } from '../../controller/database/errors.ts';
import { DomainError, messageOf } from '../../controller/platform/operation/errors.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';

export interface RequestState {
  requestId: string;
  ipAddress: string;
  startedAt: number;
}

/** Addresses and networks (`10.0.0.0/8`) whose X-Forwarded-For is believed. */
export function createAddressReader(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trusted = new BlockList();
  for (const entry of trustedProxies) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const plain = (address: string) => (address.startsWith('::ffff:') ? address.slice(7) : address);
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return (request) => {
    let address = plain(request.socket.remoteAddress ?? '');
    if (trustedProxies.length === 0) return address;
    const hops = String(request.headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((hop) => plain(hop.trim()));
    // From the nearest hop outwards, as far as each one is a proxy that we know.
    while (isTrusted(address) && hops.length > 0) {
      const next = hops.pop() ?? '';
      if (isIP(next) === 0) break;
      address = next;
    }
    return address;
  };
}

/** Outermost: whatever is thrown below becomes an answer that tells no more than it should. */
export function withRequest(options: {
  log: Logger;
  addressOf: (request: IncomingMessage) => string;
}): Middleware<RequestState> {
  return async (ctx, next) => {
    ctx.state.requestId = randomUUID();
    ctx.state.ipAddress = options.addressOf(ctx.req);
    ctx.state.startedAt = performance.now();
    ctx.set('X-Request-Id', ctx.state.requestId);
    try {
      await next();
    } catch (error) {
      respondWithError(ctx, error, options.log);
    }
  };
}

type AnswerContext = Parameters<Middleware<RequestState>>[0];

export function respondWithError(ctx: AnswerContext, error: unknown, log: Logger): void {
  const { requestId } = ctx.state;
  // A handler that took over the response did not get to it.
  if (!ctx.res.headersSent) ctx.respond = true;
  const answer = toErrorResponse(error, { requestId, path: ctx.path, log });
  ctx.status = answer.status;
  ctx.set(answer.headers);
  ctx.body = answer.body;
}

export interface ErrorResponse {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/** What the client sees of an error; the rest is logged under the request's id. */
export function toErrorResponse(
  thrown: unknown,
  request: { requestId: string; path: string; log: Logger },
): ErrorResponse {
  const error = unlessAway(thrown);
  if (error !== thrown) {
    const { requestId, path, log } = request;
    log.warn({ requestId, path, reason: messageOf(thrown) }, 'request failed, the database is away');
  }
  const status = (error as { status?: unknown }).status;
  if (error instanceof DomainError) {
    const { retryAfterSeconds, ...details } = error.details ?? {};
    const headers: Record<string, string> =
      typeof retryAfterSeconds === 'number' ? { 'Retry-After': String(retryAfterSeconds) } : {};
    return { status: error.status, headers, body: { error: error.message, ...details } };
  }
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return { status, headers: {}, body: { error: messageOf(error) } };
  }
  const { requestId, path, log } = request;
  log.error({ requestId, path, err: error }, 'request failed');
  return { status: 500, headers: {}, body: { error: 'Something went wrong on the server', requestId } };
}
