/** What every route needs to get from a request to a use case. */
import type { Knex } from 'knex';
import type { Context as KoaContext } from 'koa';
import type { Actor, Context, Services } from '../controller/platform/operation/context.ts';
import { unavailable } from '../controller/platform/operation/errors.ts';
import type { Execute } from '../controller/platform/operation/operation.ts';
import type { Logger } from '../controller/platform/runtime/logger.ts';
import type { Clock } from '../reconcilers/loops/clock.ts';
import { anonymousRateLimit } from './middleware/anonymous-rate-limit.ts';
import { type Cookie, createCookie } from './middleware/cookie.ts';
import { perMinute, type RateLimit } from './middleware/rate-limit.ts';
import { createSessionCookie, readActor } from './middleware/session.ts';

/** Of one person, over all their sessions: a page that is open asks some hundred times a minute. */
const CALLS_PER_MINUTE = 12_000;

export interface RequestHandler {
  baseUrl: string;
  cookie: Cookie;
  /** Tells a browser in which somebody has signed in before; it opens nothing, and signing out keeps it. */
  deviceCookie: Cookie;
  execute: Execute;
  log: Logger;
  db: Knex;
  /** Sessions and keys are looked up here, so that requests which are slow or many lock nobody out. */
  essential: Knex;
  services: Services;
  /** Counted by address, for requests rejected for want of a session, a key or a token. */
  anonymousLimit: RateLimit;
  /** Of procedures, counted by the id of the caller. */
  calls: RateLimit;
  actor(ctx: KoaContext): Promise<Actor>;
  context(ctx: KoaContext, actor: Actor): Context;
}

export interface RequestHandlerOptions {
  baseUrl: string;
  db: Knex;
  essential: Knex;
  clock: Clock;
  log: Logger;
  services: Services;
  execute: Execute;
}

export function createRequestHandler(options: RequestHandlerOptions): RequestHandler {
  const cookie = createSessionCookie(options.baseUrl);
  return {
    baseUrl: options.baseUrl,
    cookie,
    deviceCookie: createCookie(options.baseUrl, 'headgate.known-device'),
    execute: options.execute,
    log: options.log,
    db: options.db,
    essential: options.essential,
    services: options.services,
    anonymousLimit: anonymousRateLimit(),
    calls: perMinute(CALLS_PER_MINUTE),
    actor: (ctx) => readActor(options.essential, cookie, ctx),
    context(ctx, actor) {
      const gone = new AbortController();
      const abort = () => {
        // Nobody reads the answer, and it is no fault of the server that belongs in its log.
        if (!ctx.res.writableFinished) gone.abort(unavailable('the client went away'));
      };
      ctx.res.once('close', abort);
      // It may have gone while the database was asked who it is.
      if (ctx.res.destroyed) abort();
      return {
        db: options.db,
        actor,
        clock: options.clock,
        log: options.log,
        signal: gone.signal,
        requestId: ctx.state.requestId,
        ipAddress: ctx.state.ipAddress,
        services: options.services,
      };
    },
  };
}
