/** `GET /metrics`: what Headgate measures of itself, behind a token. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type Router from '@koa/router';
import { hashSecret, sameHash } from '../../controller/platform/crypto/tokens.ts';
import { unauthorized } from '../../controller/platform/operation/errors.ts';
import { METRICS_TYPE, type SelfMetrics } from '../../controller/platform/runtime/self-metrics.ts';
import type { RequestHandler } from '../handler.ts';

export function selfMetricsRoutes(
  router: Router,
  handler: RequestHandler,
  { metrics, token }: { metrics: SelfMetrics; token: string },
): void {
  const expected = hashSecret(token);
  router.get('/metrics', async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    const given = /^Bearer +(\S+) *$/i.exec(ctx.get('authorization'))?.[1];
    if (given === undefined || !sameHash(hashSecret(given), expected)) {
      handler.anonymousLimit.take(ctx.state.ipAddress);
      throw unauthorized('Send the token of HEADGATE_METRICS_TOKEN: Authorization: Bearer …');
    }
    ctx.set('Content-Type', METRICS_TYPE);
    ctx.body = await metrics.text();
  });
}

/** Groups of addresses, the first that fits. Of streams only the number is of use. */
const ROUTES: readonly [prefix: string, route: string][] = [
  ['/api/agent/heartbeat', 'heartbeats'],
  ['/api/agent/config', 'config polls'],
  ['/api/agent/push', 'streams'],
  ['/api/events', 'streams'],
  ['/api/taps/', 'streams'],
  ['/api/agent/', 'agent'],
  ['/api/trpc', 'procedures'],
  ['/api/v1', 'rest'],
  ['/api/scim/', 'scim'],
  ['/api/auth/', 'sign-in'],
  ['/api/git/webhook/', 'webhooks'],
  ['/api/', 'other'],
  ['/git/', 'git'],
  ['/metrics', 'other'],
];

export function observeRequest(
  metrics: SelfMetrics,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const startedAt = performance.now();
  const { url = '' } = request;
  const route = ROUTES.find(([prefix]) => url.startsWith(prefix))?.[1] ?? 'web';
  response.once('close', () =>
    metrics.request(route, response.statusCode, (performance.now() - startedAt) / 1_000),
  );
}
