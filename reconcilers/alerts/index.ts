/**
 * The alerts reconciler: on the leader, it evaluates the alert rules of each environment every 15 s. A change of a rule or of a
 * silence wakes its environment. All that an evaluation needs of earlier ones is stored, but for the counters of the last
 * minute, so another controller can continue.
 */
import {
  ALERTS_LOOP,
  createCounterWindows,
  type EvaluateOptions,
  evaluateAlerts,
  listEvaluatedEnvironments,
} from '../../controller/insight/alerts/index.ts';
import { createLeaderLoop } from '../loops/leader-loop.ts';
import { loopParts, type ReconcilerOptions, reconcilerContext } from '../reconciler-context.ts';

export interface AlertReconciler {
  start(): Promise<void>;
  /** Makes one evaluation. False where the environment needs no other until its rules change. */
  reconcile(environmentId: string): Promise<boolean>;
  stop(): Promise<void>;
}

export interface AlertReconcilerOptions extends ReconcilerOptions {
  notify: EvaluateOptions['notify'];
}

export const EVALUATION_MS = 15_000;
const PASS_DEADLINE_MS = 60_000;

export function createAlertReconciler(options: AlertReconcilerOptions): AlertReconciler {
  const { db, notify } = options;
  const windows = createCounterWindows();

  const loop = createLeaderLoop<boolean, typeof db>({
    ...loopParts(options),
    name: 'alert reconciler',
    signalName: ALERTS_LOOP,
    // One after the other: an evaluation of a large environment takes memory and time.
    concurrency: 1,
    deadlineMs: PASS_DEADLINE_MS,
    failure: { key: 'environmentId', message: 'alert rules not evaluated' },
    listKeys: () => listEvaluatedEnvironments(db),
    standBy(environmentId) {
      windows.forget(environmentId);
      return false;
    },
    reconcile: (environmentId, pass) =>
      evaluateAlerts(reconcilerContext(options, 'alerts', pass), environmentId, { windows, notify }),
    resync: (_, isActive) => (isActive ? EVALUATION_MS : null),
    forgetEnvironment: windows.forget,
  });

  return {
    start: loop.start,
    reconcile: (environmentId) => loop.reconcile(environmentId, 'requested'),
    stop: loop.stop,
  };
}
