/** The agent's endpoints, but for the two that hot-path.ts answers before Koa. */
import type { Context as KoaContext, Middleware } from 'koa';
import { enroll, type PushHub } from '../../controller/fleet/index.ts';
import { EnrollRequest } from '../../schemas/agent/protocol.ts';
import { validator } from '../../schemas/validate.ts';
import type { Door } from '../door.ts';
import { readJson } from '../middleware/body.ts';
import { perMinute } from '../middleware/rate-limit.ts';
import { openEventStream } from '../sse.ts';
import { authenticateNode } from './authenticate.ts';
import type { HotPathParts } from './hot-path.ts';
import { invalidBody } from './invalid-body.ts';

export interface AgentParts extends HotPathParts {
  push: PushHub;
  /** Enrollments a minute from one address. */
  enrollPerMinute: number;
}

const ENROLL_BODY_BYTES = 64 * 1024;

export function agentRoutes(door: Door, parts: AgentParts): Middleware {
  const enrollLimit = perMinute(parts.enrollPerMinute);

  const handlers: Record<string, (ctx: KoaContext) => Promise<void>> = {
    async 'POST /api/agent/enroll'(ctx) {
      enrollLimit.take(ctx.state.ipAddress);
      const body = await readJson(ctx.req, ENROLL_BODY_BYTES);
      const check = validator(EnrollRequest);
      if (!check.fits(body)) throw invalidBody(check.issues(body));
      ctx.body = await enroll(door.context(ctx, { type: 'system', name: 'agent' }), body);
    },

    async 'GET /api/agent/push'(ctx) {
      const node = await authenticateNode(parts.directory, ctx.req);
      const stream = openEventStream(ctx);
      stream.onClose(parts.push.attach(node, stream));
    },
  };

  return async (ctx, next) => {
    if (!ctx.path.startsWith('/api/agent/')) return next();
    const handler = handlers[`${ctx.method} ${ctx.path}`];
    if (!handler) {
      ctx.status = 404;
      ctx.body = { error: 'No such agent endpoint' };
      return;
    }
    await handler(ctx);
  };
}
