/**
 * What forges and git servers call when somebody has pushed, or something became of a pull request. It says "look again"
 * and nothing else: the body is not read for what it says. Where the binding has a webhook secret, the call must be signed.
 */
import type { IncomingMessage } from 'node:http';
import type Router from '@koa/router';
import type { Knex } from 'knex';
import { admitWebhook } from '../../controller/git-sync/index.ts';
import type { Services } from '../../controller/platform/context.ts';
import { DomainError, notFound } from '../../controller/platform/errors.ts';
import { perMinuteByAddress } from '../middleware/rate-limit.ts';

const CALLS_PER_MINUTE = 60;
const BODY_BYTES = 1024 * 1024;
const ID = /^[\w-]{1,64}$/;
/** Loops that look at what has changed there. */
const LOOPS = ['git', 'pull-requests'] as const;

export function webhookRoutes(router: Router, parts: { db: Knex; services: Services }): void {
  const limit = perMinuteByAddress(CALLS_PER_MINUTE);
  const wake = createWaker(parts);
  const { db, services } = parts;

  router.post('/api/git/webhook/:binding', async (ctx) => {
    limit.take(ctx.state.ipAddress);
    const body = await bodyOf(ctx.req);
    const binding = String(ctx.params.binding);
    const call = { headers: ctx.req.headers, body };
    const admitted = ID.test(binding)
      ? await admitWebhook({ db, keyring: services.keyring }, binding, call)
      : null;
    if (!admitted) throw notFound('Binding');
    if (!admitted.again) {
      await wake(binding, admitted.environmentIds);
      // A controller that is killed before this is called again, and looks once more than it had to.
      await admitted.done();
    }
    ctx.set('Cache-Control', 'no-store');
    ctx.status = 202;
    ctx.body = { ok: true };
  });
}

/** Wakes environments, by the binding that was called. */
type Wake = (binding: string, environmentIds: readonly string[]) => Promise<void>;

/**
 * Calls that come while one is on its way share the next: what caused them may be newer than what the one on its way leads
 * to.
 */
function createWaker({ db, services }: { db: Knex; services: Services }): Wake {
  const running = new Map<string, Promise<void>>();
  const next = new Map<string, Promise<void>>();

  async function begin(binding: string, environmentIds: readonly string[]): Promise<void> {
    next.delete(binding);
    const run = publish(environmentIds);
    running.set(binding, run);
    try {
      await run;
    } finally {
      if (running.get(binding) === run) running.delete(binding);
    }
  }

  async function publish(environmentIds: readonly string[]): Promise<void> {
    for (const key of environmentIds)
      for (const loop of LOOPS)
        await services.bus.publish(db, { type: 'wake', loop, key, trigger: 'webhook' });
  }

  return (binding, environmentIds) => {
    const now = running.get(binding);
    if (!now) return begin(binding, environmentIds);
    const waiting =
      next.get(binding) ??
      now.then(
        () => begin(binding, environmentIds),
        () => begin(binding, environmentIds),
      );
    next.set(binding, waiting);
    return waiting;
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = Number(request.headers['content-length'] ?? 0);
  if (size <= BODY_BYTES) {
    size = 0;
    const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of body) {
      size += chunk.length;
      if (size > BODY_BYTES) break;
      chunks.push(chunk);
    }
  }
  if (size > BODY_BYTES)
    throw new DomainError('PAYLOAD_TOO_LARGE', `The body is larger than ${BODY_BYTES} bytes`);
  return Buffer.concat(chunks, size);
}
