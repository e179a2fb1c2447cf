/**
 * The agent's endpoints. They carry nearly all traffic, so they stand before every other middleware, and no request to
 * config or heartbeat needs a query of its own.
 */
import type { IncomingMessage } from 'node:http';
import type { Context as KoaContext, Middleware } from 'koa';
import {
  type ConfigServer,
  enroll,
  type HeartbeatIngest,
  type KnownNode,
  type NodeDirectory,
  type PushHub,
} from '../../controller/fleet/index.ts';
import { badRequest, DomainError, unauthorized } from '../../controller/platform/errors.ts';
import { AGENT_LIMITS } from '../../schemas/agent/limits.ts';
import { EnrollRequest, HeartbeatRequest } from '../../schemas/agent/protocol.ts';
import { sentences, validator } from '../../schemas/validate.ts';
import type { Door } from '../door.ts';
import { readJson } from '../middleware/body.ts';
import { perMinute } from '../middleware/rate-limit.ts';
import { openEventStream } from '../sse.ts';

export interface AgentParts {
  directory: NodeDirectory;
  configs: ConfigServer;
  heartbeats: HeartbeatIngest;
  push: PushHub;
  /** Enrollments a minute from one address. */
  enrollPerMinute: number;
}

const ENROLL_BODY_BYTES = 64 * 1024;
const POLLS_PER_MINUTE = 120;

export function agentRoutes(door: Door, parts: AgentParts): Middleware {
  const enrollLimit = perMinute(parts.enrollPerMinute);
  const configLimit = perMinute(POLLS_PER_MINUTE);
  const heartbeatLimit = perMinute(POLLS_PER_MINUTE);

  async function authenticate(request: IncomingMessage): Promise<KnownNode> {
    const header = request.headers.authorization ?? '';
    const node = header.startsWith('Bearer ') ? await parts.directory.authenticate(header.slice(7)) : null;
    if (!node) throw unauthorized('The node token is not known');
    if (node.revoked) {
      throw new DomainError(
        'UNAUTHORIZED',
        'This node was revoked. Delete the node-token file in SVC_DATA_DIR and restart the agent with a new SVC_TOKEN',
        { code: 'NODE_REVOKED' },
      );
    }
    return node;
  }

  const handlers = new Map<string, (ctx: KoaContext) => Promise<void>>(
    Object.entries({
      async 'POST /api/agent/enroll'(ctx: KoaContext) {
        enrollLimit.take(ctx.state.ipAddress);
        const body = await readJson(ctx.req, ENROLL_BODY_BYTES);
        const check = validator(EnrollRequest);
        if (!check.fits(body)) throw invalid(check.issues(body));
        ctx.body = await enroll(door.context(ctx, { type: 'system', name: 'agent' }), body);
      },

      async 'GET /api/agent/config'(ctx: KoaContext) {
        const node = await authenticate(ctx.req);
        configLimit.take(node.nodeId);
        const config = await parts.configs.forNode(node);
        ctx.set('ETag', config.etag);
        ctx.set('Cache-Control', 'no-store');
        if (ctx.req.headers['if-none-match'] === config.etag) {
          ctx.status = 304;
          return;
        }
        ctx.type = 'json';
        ctx.body = config.body;
      },

      async 'POST /api/agent/heartbeat'(ctx: KoaContext) {
        const node = await authenticate(ctx.req);
        heartbeatLimit.take(node.nodeId);
        const body = await readJson(ctx.req, AGENT_LIMITS.bodyBytes);
        const check = validator(HeartbeatRequest);
        if (!check.fits(body)) throw invalid(check.issues(body));
        ctx.body = await parts.heartbeats.take(node, body);
      },

      async 'GET /api/agent/push'(ctx: KoaContext) {
        const node = await authenticate(ctx.req);
        const stream = openEventStream(ctx);
        stream.onClose(parts.push.attach(node, stream));
      },
    }),
  );

  return async (ctx, next) => {
    // Not ctx.path, which parses the address anew for every request.
    const { method, url = '' } = ctx.req;
    if (!url.startsWith('/api/agent/')) return next();
    const query = url.indexOf('?');
    const handler = handlers.get(`${method} ${query < 0 ? url : url.slice(0, query)}`);
    if (!handler) {
      ctx.status = 404;
      ctx.body = { error: 'No such agent endpoint' };
      return;
    }
    await handler(ctx);
  };
}

function invalid(issues: Parameters<typeof sentences>[0]): DomainError {
  return badRequest(sentences(issues), {
    details: issues.slice(0, 20).map(({ path, message }) => ({ path, message })),
  });
}
