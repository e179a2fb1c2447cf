import type Router from '@koa/router';
import type { Knex } from 'knex';
import { readHealth } from '../../controller/fleet/status/index.ts';
import type { Lease } from '../../controller/platform/runtime/lease.ts';

export interface HealthParts {
  db: Knex;
  lease: Lease;
  diskFull: () => boolean;
  hearsOthers: () => boolean;
}

const REASONS = {
  disk: 'The disk of the database is full: free some space there',
  database: 'The database does not answer',
};

/**
 * `/api/health` for load balancers, `/api/health/ready` with what stands behind it. Both are 503 when not well; a full disk is
 * reported as such even where it keeps the database from answering. A controller that does not hear the others may serve what
 * is out of date: it is not ready.
 */
export function healthRoutes(router: Router, parts: HealthParts): void {
  router.get('/api/health', async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    const answers = await readHealth(parts.db).then(
      () => true,
      () => false,
    );
    const reason = parts.diskFull() ? 'disk' : answers ? null : 'database';
    ctx.status = reason === null ? 200 : 503;
    ctx.body = reason === null ? { status: 'ok' } : { status: 'error', reason, message: REASONS[reason] };
  });

  router.get('/api/health/ready', async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    try {
      const { migrations, leaderUntil, bindings, failingBindings } = await readHealth(parts.db);
      const checks = {
        database: true,
        disk: !parts.diskFull(),
        bus: parts.hearsOthers(),
        migrations,
        leader: leaderUntil !== null,
        leading: parts.lease.epoch() !== null,
        bindings,
        failingBindings,
      };
      const well = checks.leader && checks.disk && checks.bus;
      ctx.status = well ? 200 : 503;
      ctx.body = { status: well ? 'ok' : 'error', checks };
    } catch {
      ctx.status = 503;
      ctx.body = { status: 'error', checks: { database: false, disk: !parts.diskFull() } };
    }
  });
}
