/**
 * The secrets reconciler: on the leader, it fetches the secrets of every environment that keeps them in an external store.
 * A change of the store's settings wakes it; the timer finds what was changed inside the store.
 */
import {
  listExternalEnvironments,
  type Refreshed,
  refreshSecrets,
  SECRETS_LOOP,
} from '../../controller/secrets/index.ts';
import { backoff, jitter } from '../loops/backoff.ts';
import { createLeaderLoop } from '../loops/leader-loop.ts';
import { loopParts, type ReconcilerOptions, reconcilerContext } from '../reconciler-context.ts';

export interface SecretReconciler {
  start(): Promise<void>;
  stop(): Promise<void>;
}

const EVERY_MS = 60_000;
const AFTER_FAULT_MS = 15_000;
const afterThrottling = backoff({ firstMs: EVERY_MS, capMs: 15 * 60_000 });
const PASS_DEADLINE_MS = 5 * 60_000;

export function createSecretReconciler(options: ReconcilerOptions): SecretReconciler {
  const { db, log, services } = options;
  /** By environment, the fault of its store that was logged last: each fault is logged once, not every minute. */
  const faults = new Map<string, string>();
  /** By environment, how many times in a row its store asked for fewer requests. */
  const throttled = new Map<string, number>();

  const loop = createLeaderLoop<Refreshed | null, typeof db>({
    ...loopParts(options),
    name: 'secrets reconciler',
    signalName: SECRETS_LOOP,
    deadlineMs: PASS_DEADLINE_MS,
    failure: { key: 'environmentId', message: 'secrets not fetched' },
    listKeys: () => listExternalEnvironments(db),
    standBy: () => null,
    async reconcile(environmentId, pass) {
      const result = await refreshSecrets(reconcilerContext(options, 'secrets', pass), environmentId);
      logChanges(environmentId, result);
      return result;
    },
    // Null where nothing is fetched: a change of the store, or of the leader, wakes the key again.
    resync(environmentId, result) {
      if (!result) return null;
      const times = result.isThrottled ? (throttled.get(environmentId) ?? 0) + 1 : 0;
      if (times === 0) throttled.delete(environmentId);
      else throttled.set(environmentId, times);
      if (times > 0) return jitter(afterThrottling(times));
      return result.fault === null ? (result.refreshMs ?? EVERY_MS) : AFTER_FAULT_MS;
    },
    forgetEnvironment(environmentId) {
      services.secretStores.forget(environmentId);
      faults.delete(environmentId);
      throttled.delete(environmentId);
    },
  });

  function logChanges(environmentId: string, result: Refreshed | null): void {
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

  return { start: loop.start, stop: loop.stop };
}
