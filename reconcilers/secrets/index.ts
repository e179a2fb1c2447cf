/**
 * The secrets reconciler: on the leader, the secrets of every environment that keeps them outside follow their store.
 * A change of the store wakes it up; the timer finds what was changed inside of the store.
 */
import type { Knex } from 'knex';
import type { Context, Services } from '../../controller/platform/operation/context.ts';
import { messageOf } from '../../controller/platform/operation/errors.ts';
import type { Lease } from '../../controller/platform/runtime/lease.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';
import { listOutside, type Refreshed, refreshSecrets, SECRETS_LOOP } from '../../controller/secrets/index.ts';
import { backoff, jitter } from '../engine/backoff.ts';
import type { Clock } from '../engine/clock.ts';
import { createRunLoop } from '../engine/run-loop.ts';

export interface SecretReconciler {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface SecretReconcilerOptions {
  db: Knex;
  clock: Clock;
  log: Logger;
  services: Services;
  lease: Lease;
}

const EVERY_MS = 60_000;
const AFTER_FAULT_MS = 15_000;
const afterThrottling = backoff({ firstMs: EVERY_MS, capMs: 15 * 60_000 });
const PASS_DEADLINE_MS = 5 * 60_000;

export function createSecretReconciler(options: SecretReconcilerOptions): SecretReconciler {
  const { db, clock, log, services, lease } = options;
  /** By environment, what was last said of its store: said once, not every minute. */
  const faults = new Map<string, string>();
  /** By environment, how often in a row its store wanted to be asked less. */
  const throttled = new Map<string, number>();

  const loop = createRunLoop<Refreshed | null>({
    name: 'secrets reconciler',
    clock,
    deadlineMs: PASS_DEADLINE_MS,
    async reconcile(environmentId, pass) {
      const epoch = lease.epoch();
      if (epoch === null) return null;
      const ctx: Context = {
        db,
        actor: { type: 'system', name: 'secrets' },
        clock,
        log,
        signal: pass.signal,
        requestId: 'secrets',
        ipAddress: null,
        services,
        fence: (tx) => lease.fence(tx, epoch),
      };
      const result = await refreshSecrets(ctx, environmentId);
      tell(environmentId, result);
      return result;
    },
    // Null where nothing is fetched: a change of the store, or of the leader, asks for the next look.
    resync(environmentId, result) {
      if (!result) return null;
      const times = result.isThrottled ? (throttled.get(environmentId) ?? 0) + 1 : 0;
      if (times === 0) throttled.delete(environmentId);
      else throttled.set(environmentId, times);
      if (times > 0) return jitter(afterThrottling(times));
      return result.fault === null ? (result.refreshMs ?? EVERY_MS) : AFTER_FAULT_MS;
    },
    onFailure: (environmentId, error, retryInMs) =>
      log.warn(
        { environmentId, reason: messageOf(error), retryInMs: Math.round(retryInMs) },
        'secrets not fetched',
      ),
  });

  function tell(environmentId: string, result: Refreshed | null): void {
    if (result && result.changed.length > 0)
      log.info({ environmentId, changed: result.changed.length }, 'secrets have other values');
    const fault = result?.fault ?? null;
    if (fault === null) {
      if (faults.delete(environmentId)) log.info({ environmentId }, 'the store of secrets answers again');
    } else if (faults.get(environmentId) !== fault) {
      faults.set(environmentId, fault);
      log.warn({ environmentId, reason: fault }, 'the store of secrets fails, last good values are served');
    }
  }

  async function wakeAll(trigger: string): Promise<void> {
    for (const environmentId of await listOutside(db)) loop.wake(environmentId, trigger);
  }
  const off = [
    services.bus.on('wake', (signal) => {
      if (signal.loop === SECRETS_LOOP) loop.wake(signal.key, signal.trigger);
    }),
    services.bus.on('environment', ({ environmentId }) => {
      loop.forget(environmentId);
      services.secretStores.forget(environmentId);
      faults.delete(environmentId);
      throttled.delete(environmentId);
    }),
    services.bus.on('resync', () => void wakeAll('resync').catch(() => {})),
  ];
  lease.onChange((leading) => {
    if (leading) void wakeAll('leading').catch(() => {});
  });

  return {
    start: () => wakeAll('start'),
    async stop() {
      for (const remove of off) remove();
      await loop.stop();
    },
  };
}
