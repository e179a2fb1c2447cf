/**
 * The rollout reconciler: on the leader, every rollout that is active is looked at until it has ended. All that it knows is
 * in the row, so that a controller that starts anew, or another one, goes on where this one was.
 */
import type { Knex } from 'knex';
import { ALL_ROLLOUTS, listActiveRollouts, ROLLOUTS_LOOP } from '../../controller/delivery/rollouts/index.ts';
import type { Context, Services } from '../../controller/platform/operation/context.ts';
import { messageOf } from '../../controller/platform/operation/errors.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';
import type { Lease } from '../../controller/platform/runtime/lease.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';
import type { Clock } from '../engine/clock.ts';
import { createRunLoop } from '../engine/run-loop.ts';
import { runRolloutPass } from './pass.ts';

export interface RolloutReconciler {
  start(): void;
  /** One pass now; for tests. Settles when it is done. */
  look(rolloutId: string): Promise<boolean>;
  stop(): Promise<void>;
}

export interface RolloutReconcilerOptions {
  db: Knex;
  clock: Clock;
  log: Logger;
  services: Services;
  execute: Execute;
  lease: Pick<Lease, 'epoch' | 'fence' | 'onChange'>;
}

const EVERY_MS = 5_000;
/** Signals may be lost: how often all are looked for. */
const SWEEP_MS = 60_000;
const PASS_DEADLINE_MS = 60_000;

export function createRolloutReconciler(options: RolloutReconcilerOptions): RolloutReconciler {
  const { db, clock, log, services, execute, lease } = options;

  /** The result: whether to look again. */
  const loop = createRunLoop<boolean>({
    name: 'rollout reconciler',
    clock,
    deadlineMs: PASS_DEADLINE_MS,
    async reconcile(key, pass) {
      const epoch = lease.epoch();
      if (epoch === null) return false;
      if (key === ALL_ROLLOUTS) {
        for (const id of await listActiveRollouts(db)) loop.wake(id, 'sweep');
        return true;
      }
      const ctx: Context = {
        db,
        actor: { type: 'system', name: 'rollout' },
        clock,
        log,
        signal: pass.signal,
        requestId: 'rollout',
        ipAddress: null,
        services,
        fence: (tx) => lease.fence(tx, epoch),
      };
      return runRolloutPass(ctx, execute, key);
    },
    resync: (key, goesOn) => (goesOn ? (key === ALL_ROLLOUTS ? SWEEP_MS : EVERY_MS) : null),
    onFailure: (key, error, retryInMs) =>
      log.warn({ rollout: key, retryInMs, reason: messageOf(error) }, 'a rollout was not looked at'),
  });

  const off = [
    services.bus.on('wake', (signal) => {
      if (signal.loop === ROLLOUTS_LOOP) loop.wake(signal.key, signal.trigger);
    }),
    services.bus.on('resync', () => loop.wake(ALL_ROLLOUTS, 'resync')),
  ];
  lease.onChange((leading) => {
    if (leading) loop.wake(ALL_ROLLOUTS, 'leading');
  });

  return {
    start: () => loop.wake(ALL_ROLLOUTS, 'start'),
    look: (rolloutId) => loop.look(rolloutId, 'asked'),
    async stop() {
      for (const remove of off) remove();
      await loop.stop();
    },
  };
}
