/**
 * The reconciler of promotions: on the leader, each that waits for its pull request is looked at until what was merged runs,
 * or it is over. Passes of git, pull requests and nodes wake it up; the timer finds what was missed.
 */
import type { Knex } from 'knex';
import { listAwaiting, PROMOTIONS_LOOP } from '../../controller/delivery/promotions/index.ts';
import type { Context, Services } from '../../controller/platform/operation/context.ts';
import { messageOf } from '../../controller/platform/operation/errors.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';
import type { Lease } from '../../controller/platform/runtime/lease.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';
import type { Clock } from '../engine/clock.ts';
import { createRunLoop } from '../engine/run-loop.ts';
import { type PassOutcome, runPromotionPass } from './pass.ts';

export interface PromotionReconciler {
  /** One look; settles when it is done. */
  look(requestId: string, trigger: string): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface PromotionReconcilerOptions {
  db: Knex;
  clock: Clock;
  log: Logger;
  services: Services;
  execute: Execute;
  lease: Pick<Lease, 'epoch' | 'fence' | 'onChange'>;
}

const EVERY_MS = 30_000;
const PASS_DEADLINE_MS = 2 * 60_000;
/** Nodes report all the time: what they say in such a while is looked at once. */
const GATHER_MS = 500;

export function createPromotionReconciler(options: PromotionReconcilerOptions): PromotionReconciler {
  const { db, clock, log, services, lease } = options;
  /** Those that wait, with the environment that they go to. */
  const waiting = new Map<string, string>();
  const gathered = new Map<string, () => void>();

  const loop = createRunLoop<PassOutcome | null>({
    name: 'promotions',
    clock,
    deadlineMs: PASS_DEADLINE_MS,
    async reconcile(requestId, pass) {
      const epoch = lease.epoch();
      if (epoch === null) {
        waiting.delete(requestId);
        return null;
      }
      const ctx: Context = {
        ...{ db, clock, log, services, signal: pass.signal },
        actor: { type: 'system', name: 'promotions' },
        requestId: 'promotions',
        ipAddress: null,
        fence: (tx) => lease.fence(tx, epoch),
      };
      // Repositories that do not answer hold up their own promotions alone.
      const looked = await pass.aside(() => runPromotionPass(ctx, options.execute, requestId));
      if (looked.over || looked.environmentId === null) waiting.delete(requestId);
      else waiting.set(requestId, looked.environmentId);
      return looked;
    },
    resync: (_, looked) => (looked === null || looked.over ? null : EVERY_MS),
    onFailure: (requestId, error, retryInMs) =>
      log.warn(
        { requestId, reason: messageOf(error), retryInMs: Math.round(retryInMs) },
        'promotion not looked at',
      ),
  });

  async function wakeAll(trigger: string): Promise<void> {
    for (const { id, targetEnvironmentId } of await listAwaiting(db)) {
      waiting.set(id, targetEnvironmentId);
      loop.wake(id, trigger);
    }
  }

  function soon(environmentId: string): void {
    if (gathered.has(environmentId)) return;
    const cancel = clock.after(GATHER_MS, () => {
      gathered.delete(environmentId);
      for (const [id, target] of waiting) if (target === environmentId) loop.wake(id, 'environment');
    });
    gathered.set(environmentId, cancel);
  }

  const off = [
    services.bus.on('wake', (signal) => {
      if (signal.loop === PROMOTIONS_LOOP) loop.wake(signal.key, signal.trigger);
    }),
    services.bus.on('ui', ({ environmentId, topics }) => {
      const concerns = topics.some((topic) => topic === 'git' || topic === 'pipelines' || topic === 'fleet');
      if (concerns && environmentId !== null && [...waiting.values()].includes(environmentId))
        soon(environmentId);
    }),
    services.bus.on('resync', () => void wakeAll('resync').catch(() => {})),
  ];
  lease.onChange((leading) => {
    if (leading) void wakeAll('leading').catch(() => {});
  });

  return {
    look: async (requestId, trigger) => void (await loop.look(requestId, trigger)),
    start: () => wakeAll('start'),
    async stop() {
      for (const remove of off) remove();
      for (const cancel of gathered.values()) cancel();
      await loop.stop();
    },
  };
}
