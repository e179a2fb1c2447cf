/** The agent's endpoints, but for the two that hot-path.ts answers before Koa. */
import type { Context as KoaContext, Middleware } from 'koa';
import { enroll, type NodeDirectory, type PushHub } from '../../controller/fleet/index.ts';
import type { LogIngest } from '../../controller/fleet/logs/index.ts';
import type { SampleIngest, Taps } from '../../controller/fleet/samples/index.ts';
import { forbidden } from '../../controller/platform/operation/errors.ts';
import { AGENT_LIMITS } from '../../schemas/agent/limits.ts';
import {
  EnrollRequest,
  LogsRequest,
  SamplesRequest,
  TapEventsRequest,
} from '../../schemas/agent/protocol.ts';
import { validator } from '../../schemas/validate.ts';
import type { RequestHandler } from '../handler.ts';
import { openEventStream } from '../http/sse.ts';
import { readJson } from '../middleware/body.ts';
import { perMinute, perMinuteByAddress } from '../middleware/rate-limit.ts';
import type { AuthenticateNode } from './authenticate.ts';
import type { HotPathParts } from './hot-path.ts';
import { invalidBody } from './invalid-body.ts';

export interface AgentParts extends HotPathParts {
  directory: NodeDirectory;
  logs: LogIngest;
  samples: SampleIngest;
  taps: Taps;
  push: PushHub;
  /** Enrollments a minute from one address. */
  enrollPerMinute: number;
}

const ENROLL_BODY_BYTES = 64 * 1024;
const LOGS_PER_MINUTE = 60;
const SAMPLES_PER_MINUTE = 60;
const TAP_EVENTS_PER_MINUTE = 120;

export function agentRoutes(
  requests: RequestHandler,
  parts: AgentParts,
  authenticate: AuthenticateNode,
): Middleware {
  const enrollLimit = perMinuteByAddress(parts.enrollPerMinute);
  const logsLimit = perMinute(LOGS_PER_MINUTE);
  const samplesLimit = perMinute(SAMPLES_PER_MINUTE);
  const tapEventsLimit = perMinute(TAP_EVENTS_PER_MINUTE);

  const handlers: Record<string, (ctx: KoaContext) => Promise<void>> = {
    async 'POST /api/agent/enroll'(ctx) {
      enrollLimit.take(ctx.state.ipAddress);
      const body = await readJson(ctx.req, ENROLL_BODY_BYTES);
      const check = validator(EnrollRequest);
      if (!check.fits(body)) throw invalidBody(check.firstIssue(body));
      ctx.body = await enroll(requests.context(ctx, { type: 'system', name: 'agent' }), body);
    },

    async 'POST /api/agent/logs'(ctx) {
      const node = await authenticate(ctx.req);
      logsLimit.take(node.nodeId);
      const body = await readJson(ctx.req, AGENT_LIMITS.bodyBytes);
      const check = validator(LogsRequest);
      if (!check.fits(body)) throw invalidBody(check.firstIssue(body));
      const { signal } = requests.context(ctx, { type: 'system', name: 'agent' });
      ctx.body = await parts.logs.deliver(node, body, signal);
    },

    async 'POST /api/agent/samples'(ctx) {
      const node = await authenticate(ctx.req);
      samplesLimit.take(node.nodeId);
      const body = await readJson(ctx.req, AGENT_LIMITS.bodyBytes);
      const check = validator(SamplesRequest);
      if (!check.fits(body)) throw invalidBody(check.firstIssue(body));
      ctx.body = await parts.samples.ingest(node, body);
    },

    async 'POST /api/agent/tap-events'(ctx) {
      const node = await authenticate(ctx.req);
      tapEventsLimit.take(node.nodeId);
      const body = await readJson(ctx.req, AGENT_LIMITS.bodyBytes);
      const check = validator(TapEventsRequest);
      if (!check.fits(body)) throw invalidBody(check.firstIssue(body));
      if (!(await parts.taps.ingest(node, body)))
        throw forbidden('No such tap is active for this node; end it');
      ctx.body = { ok: true };
    },

    async 'GET /api/agent/push'(ctx) {
      const node = await authenticate(ctx.req);
      const stream = openEventStream(ctx);
      stream.onClose(parts.push.attach(node, stream));
      for (const message of await parts.taps.startMessagesFor(node.nodeId).catch(() => []))
        stream.send(message.type, JSON.stringify(message));
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
