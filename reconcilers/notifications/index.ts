/**
 * The notifications reconciler: on the leader, it sends what is queued for each endpoint. Queueing wakes it, and the timer of
 * each endpoint comes with its next try. Once a minute it looks for endpoints whose signal was lost, and repeats open alerts
 * to receivers that forget them.
 */
import {
  deliverDue,
  enqueueRepeats,
  listBusyEndpoints,
  NOTIFICATIONS_LOOP,
} from '../../controller/insight/notifications/index.ts';
import { createLeaderLoop } from '../loops/leader-loop.ts';
import { loopParts, type ReconcilerOptions, reconcilerContext } from '../reconciler-context.ts';

export interface NotificationReconciler {
  start(): Promise<void>;
  /** Settles when nothing runs and nothing is due right now. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

export interface NotificationReconcilerOptions extends ReconcilerOptions {
  /** For the jitter of retries. */
  random?: () => number;
}

/** In the place of an endpoint's id: the work that is nobody's. */
const SWEEP = 'sweep';
const SWEEP_MS = 60_000;
/** Many rounds of slow requests. */
const PASS_DEADLINE_MS = 15 * 60_000;

export function createNotificationReconciler(options: NotificationReconcilerOptions): NotificationReconciler {
  const { db, random } = options;

  /** Milliseconds until the next pass; null where only a signal asks for it. */
  const loop = createLeaderLoop<number | null, typeof db>({
    ...loopParts(options),
    name: 'notifications reconciler',
    signalName: NOTIFICATIONS_LOOP,
    deadlineMs: PASS_DEADLINE_MS,
    failure: { key: 'endpointId', message: 'notifications not sent' },
    listKeys: async () => [SWEEP, ...(await listBusyEndpoints(db))],
    standBy: () => null,
    async reconcile(key, pass) {
      const ctx = reconcilerContext(options, 'notifications', pass);
      if (key !== SWEEP) return deliverDue(ctx, key, { aside: pass.aside, ...(random ? { random } : {}) });
      await db.transaction(async (tx) => {
        await pass.fence(tx);
        await enqueueRepeats({ ...ctx, db: tx });
      });
      for (const endpointId of await listBusyEndpoints(db)) loop.wake(endpointId, 'sweep');
      return SWEEP_MS;
    },
    resync: (_, dueInMs) => dueInMs,
  });
  return { start: loop.start, idle: loop.idle, stop: loop.stop };
}
