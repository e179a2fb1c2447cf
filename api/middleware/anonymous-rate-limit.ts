/**
 * What one address may ask while nobody stands behind it: documents and pages that are open to all, and calls that are turned
 * away for want of a session, a key or a token. Authenticated requests are counted by their caller instead, so that a stranger behind the
 * same address takes nothing away. Nodes have limits of their own.
 */
import type { Middleware } from 'koa';
import { DomainError } from '../../controller/platform/operation/errors.ts';
import { perMinuteByAddress, type RateLimit } from './rate-limit.ts';

/** A hundred browsers that load a page at once are below it, and so is a fleet that installs itself. */
export const ANONYMOUS_PER_MINUTE = 3_000;

const OPEN = ['/api/health', '/api/auth/', '/api/v1/openapi.json', '/schemas/', '/agent/'];

export const anonymousRateLimit = (): RateLimit => perMinuteByAddress(ANONYMOUS_PER_MINUTE);

/** Counts requests that are open to all, and unauthenticated ones that a transport rejects by itself. */
export function countAnonymous(anonymousLimit: RateLimit): Middleware {
  return async (ctx, next) => {
    const { path } = ctx;
    if (OPEN.some((prefix) => path.startsWith(prefix))) anonymousLimit.take(ctx.state.ipAddress);
    try {
      await next();
    } catch (error) {
      const unknown = error instanceof DomainError && error.code === 'UNAUTHORIZED';
      // Agents are counted apart: api/agent/authenticate.ts.
      if (unknown && !path.startsWith('/api/agent/')) anonymousLimit.take(ctx.state.ipAddress);
      throw error;
    }
  };
}
