/**
 * What forges and git servers call when somebody has pushed, or something became of a pull request. It says "look again"
 * and nothing else: the body is not read for what it says. Where the binding has a webhook secret, the call must be signed.
 */
import type { IncomingMessage } from 'node:http';
import type Router from '@koa/router';
import type { Knex } from 'knex';
import type { Context } from 'koa';
import { type Admitted, openWebhook } from '../../controller/delivery/bindings/index.ts';
import type { Services } from '../../controller/platform/operation/context.ts';
import { DomainError, notFound } from '../../controller/platform/operation/errors.ts';
import type { Clock } from '../../reconcilers/loops/clock.ts';
import { perMinute, perMinuteByAddress } from '../middleware/rate-limit.ts';

/** From one address, of those that are not signed as they should be. */
const UNSIGNED_PER_MINUTE = 60;
/** Of a binding. */
const SIGNED_PER_MINUTE = 1_200;
/** As large as GitHub sends them; the body is not held. */
const BODY_BYTES = 25 * 1024 * 1024;
const REFUSED: ReadonlySet<string> = new Set(['UNAUTHORIZED', 'NOT_FOUND', 'PAYLOAD_TOO_LARGE']);
const ID = /^[\w-]{1,64}$/;
/** Loops that look at what has changed there. */
const LOOPS = ['git', 'pull-requests'] as const;

export function webhookRoutes(router: Router, parts: { db: Knex; services: Services; clock: Clock }): void {
  const unsignedLimit = perMinuteByAddress(UNSIGNED_PER_MINUTE);
  const signed = perMinute(SIGNED_PER_MINUTE);
  const wake = createWaker(parts);
  const { db, services, clock } = parts;

  /** An address with too many failures is rejected outright; a forge that signs is limited by its binding alone. */
  async function admitted(ctx: Context, binding: string): Promise<Admitted> {
    const { ipAddress } = ctx.state;
    unsignedLimit.check(ipAddress);
    try {
      const call = ID.test(binding)
        ? await openWebhook({ db, keyring: services.keyring, clock }, binding, ctx.req.headers)
        : null;
      await readBody(ctx.req, (piece) => call?.update(piece));
      if (!call) throw notFound('Binding');
      const found = await call.admit();
      if (found.isSigned) signed.take(binding);
      else unsignedLimit.take(ipAddress);
      return found;
    } catch (error) {
      if (error instanceof DomainError && REFUSED.has(error.code)) unsignedLimit.take(ipAddress);
      throw error;
    }
  }

  router.post('/api/git/webhook/:binding', async (ctx) => {
    const binding = String(ctx.params.binding);
    const { isIdle, environmentIds, done } = await admitted(ctx, binding);
    if (!isIdle) {
      await wake(binding, environmentIds);
      // A controller that is killed before this is called again, and looks once more than it had to.
      await done();
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

async function readBody(request: IncomingMessage, take: (piece: Buffer) => void): Promise<void> {
  let size = Number(request.headers['content-length'] ?? 0);
  if (size <= BODY_BYTES) {
    size = 0;
    const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    for await (const piece of body) {
      size += piece.length;
      if (size > BODY_BYTES) break;
      take(piece);
    }
  }
  if (size > BODY_BYTES)
    throw new DomainError('PAYLOAD_TOO_LARGE', `The body is larger than ${BODY_BYTES} bytes`);
}
