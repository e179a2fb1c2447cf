/**
 * Config polls and heartbeats: nearly all requests of a fleet. They are answered on Node's own HTTP server, before Koa,
 * whose context costs as much as the whole answer; none needs a query of its own.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type ConfigServer,
  type HeartbeatIngest,
  type NodeReturns,
  normalizeHeartbeat,
  type UpdateTracker,
} from '../../controller/fleet/index.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';
import { AGENT_LIMITS } from '../../schemas/agent/limits.ts';
import { readJson } from '../middleware/body.ts';
import { perMinute } from '../middleware/rate-limit.ts';
import { toErrorResponse } from '../middleware/request.ts';
import { NODE_HEADERS } from '../middleware/security-headers.ts';
import type { AuthenticateNode } from './authenticate.ts';
import { invalidBody } from './invalid-body.ts';

export interface HotPathParts {
  configs: ConfigServer;
  heartbeats: HeartbeatIngest;
  updates: Pick<UpdateTracker, 'onSent'>;
  returns: Pick<NodeReturns, 'onRequest'>;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  /** JSON; null where the status has none. */
  body: string | null;
}

const REQUESTS_PER_MINUTE = 120;

/** Answers the request and returns true, or leaves it to others. */
export function agentHotPath(
  parts: HotPathParts,
  authenticate: AuthenticateNode,
  log: Logger,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const configLimit = perMinute(REQUESTS_PER_MINUTE);
  const heartbeatLimit = perMinute(REQUESTS_PER_MINUTE);

  async function config(request: IncomingMessage): Promise<Answer> {
    const node = await authenticate(request);
    configLimit.take(node.nodeId);
    parts.returns.onRequest(node);
    const served = await parts.configs.forNode(node);
    const headers = { ETag: served.etag };
    if (request.headers['if-none-match'] === served.etag) return { status: 304, headers, body: null };
    if (node.update) parts.updates.onSent(node);
    return { status: 200, headers, body: served.body };
  }

  async function heartbeat(request: IncomingMessage): Promise<Answer> {
    const node = await authenticate(request);
    heartbeatLimit.take(node.nodeId);
    parts.returns.onRequest(node);
    const body = await readJson(request, AGENT_LIMITS.bodyBytes);
    const given = normalizeHeartbeat(body);
    if ('issues' in given) throw invalidBody(given.issues);
    const answer = await parts.heartbeats.ingest(node, given.request, given.warnings);
    return { status: 200, headers: {}, body: JSON.stringify(answer) };
  }

  const endpoints = new Map([
    ['GET /api/agent/config', config],
    ['POST /api/agent/heartbeat', heartbeat],
  ]);

  return (request, response) => {
    const { method, url = '' } = request;
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    const endpoint = endpoints.get(`${method} ${path}`);
    if (!endpoint) return false;
    const requestId = randomUUID();
    endpoint(request).then(
      (answer) => send(response, requestId, answer),
      (error: unknown) => {
        const { status, headers, body } = toErrorResponse(error, { requestId, path, log });
        send(response, requestId, { status, headers, body: JSON.stringify(body) });
      },
    );
    return true;
  };
}

function send(response: ServerResponse, requestId: string, { status, headers, body }: Answer): void {
  if (response.destroyed) return;
  Object.assign(headers, NODE_HEADERS);
  headers['X-Request-Id'] = requestId;
  if (body === null) {
    response.writeHead(status, headers).end();
    return;
  }
  headers['Content-Type'] = 'application/json; charset=utf-8';
  headers['Content-Length'] = String(Buffer.byteLength(body));
  response.writeHead(status, headers).end(body);
}
