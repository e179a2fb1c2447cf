import type Router from '@koa/router';
import type { Knex } from 'knex';
import type { Lease } from '../controller/platform/lease.ts';
import { readHealth } from '../controller/status/index.ts';

/** `/api/health` for load balancers, `/api/health/ready` with what stands behind it. Both 503 when not well. */
export function healthRoutes(router: Router, parts: { db: Knex; lease: Lease }): void {
  router.get('/api/health', async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    const well = await readHealth(parts.db).then(
      () => true,
      () => false,
    );
    ctx.status = well ? 200 : 503;
    ctx.body = { status: well ? 'ok' : 'error' };
  });

  router.get('/api/health/ready', async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    try {
      const { migrations, leaderUntil, bindings, failingBindings } = await readHealth(parts.db);
      const checks = {
        database: true,
        migrations,
        leader: leaderUntil !== null,
        leading: parts.lease.epoch() !== null,
        bindings,
        failingBindings,
      };
      ctx.status = checks.leader ? 200 : 503;
      ctx.body = { status: checks.leader ? 'ok' : 'error', checks };
    } catch {
      ctx.status = 503;
      ctx.body = { status: 'error', checks: { database: false } };
    }
  });
}
