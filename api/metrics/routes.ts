/** GET /api/metrics: an environment in the text format of Prometheus, by the key of a service account with `metrics.read`. */
import type Router from '@koa/router';
import { exportMetrics, type MetricStore } from '../../controller/insight/telemetry/index.ts';
import type { RequestHandler } from '../handler.ts';
import { readApiKey } from '../middleware/api-key.ts';
import { perMinute } from '../middleware/rate-limit.ts';

/** Of one key: several Prometheus servers may read it every few seconds. */
const READS_PER_MINUTE = 60;

export function metricsRoutes(router: Router, handler: RequestHandler, store: MetricStore): void {
  const limit = perMinute(READS_PER_MINUTE);
  const operation = exportMetrics(store);

  router.get('/api/metrics', async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    const { actor } = await readApiKey(handler, ctx);
    limit.take(actor.id);
    const { environmentId } = actor;
    const { text } = await handler.execute(operation, handler.context(ctx, actor), { environmentId });
    ctx.set('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    ctx.body = text;
  });
}
