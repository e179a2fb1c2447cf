/**
 * What git servers call when somebody has pushed. It says "look again" and nothing else: the body is not read for what it
 * says, so nobody has to be believed, and no secret is needed.
 */
import type { IncomingMessage } from 'node:http';
import type Router from '@koa/router';
import type { Knex } from 'knex';
import { environmentsBeside } from '../../controller/git-sync/index.ts';
import type { Services } from '../../controller/platform/context.ts';
import { DomainError, notFound } from '../../controller/platform/errors.ts';
import { perMinute } from '../middleware/rate-limit.ts';

const CALLS_PER_MINUTE = 60;
const BODY_BYTES = 1024 * 1024;
const ID = /^[\w-]{1,64}$/;

export function webhookRoutes(router: Router, parts: { db: Knex; services: Services }): void {
  const limit = perMinute(CALLS_PER_MINUTE);
  const wake = createWaker(parts);

  router.post('/api/git/webhook/:binding', async (ctx) => {
    limit.take(ctx.state.ipAddress);
    await drain(ctx.req);
    const binding = String(ctx.params.binding);
    if (!ID.test(binding) || !(await wake(binding))) throw notFound('Binding');
    ctx.set('Cache-Control', 'no-store');
    ctx.status = 202;
    ctx.body = { ok: true };
  });
}

/**
 * Wakes the bindings of the repository; false where there is no such binding. Calls that come while one is on its way
 * share the next: what caused them may be newer than what the one on its way leads to.
 */
function createWaker({ db, services }: { db: Knex; services: Services }) {
  const running = new Map<string, Promise<boolean>>();
  const next = new Map<string, Promise<boolean>>();

  async function begin(binding: string): Promise<boolean> {
    next.delete(binding);
    const run = publish(binding);
    running.set(binding, run);
    try {
      return await run;
    } finally {
      if (running.get(binding) === run) running.delete(binding);
    }
  }

  async function publish(binding: string): Promise<boolean> {
    const environments = await environmentsBeside(db, binding);
    for (const key of environments)
      await services.bus.publish(db, { type: 'wake', loop: 'git', key, trigger: 'webhook' });
    return environments.length > 0;
  }

  return (binding: string): Promise<boolean> => {
    const now = running.get(binding);
    if (!now) return begin(binding);
    const waiting =
      next.get(binding) ??
      now.then(
        () => begin(binding),
        () => begin(binding),
      );
    next.set(binding, waiting);
    return waiting;
  };
}

async function drain(request: IncomingMessage): Promise<void> {
  let size = Number(request.headers['content-length'] ?? 0);
  if (size <= BODY_BYTES) {
    size = 0;
    const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of body) {
      size += chunk.length;
      if (size > BODY_BYTES) break;
    }
  }
  if (size > BODY_BYTES)
    throw new DomainError('PAYLOAD_TOO_LARGE', `The body is larger than ${BODY_BYTES} bytes`);
}
