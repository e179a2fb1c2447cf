/**
 * The rollout reconciler: on the leader, each active rollout gets a pass every few seconds until it has ended. Its whole
 * state is in the row, so another controller can continue it.
 */
import { ALL_ROLLOUTS, listActiveRollouts, ROLLOUTS_LOOP } from '../../controller/delivery/rollouts/index.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';
import { createLeaderLoop } from '../loops/leader-loop.ts';
import { loopParts, type ReconcilerOptions, reconcilerContext } from '../reconciler-context.ts';
import { runRolloutPass } from './pass.ts';

export interface RolloutReconciler {
  start(): Promise<void>;
  /** Makes one pass. False where the rollout needs no other. */
  reconcile(rolloutId: string): Promise<boolean>;
  stop(): Promise<void>;
}

export interface RolloutReconcilerOptions extends ReconcilerOptions {
  execute: Execute;
}

const EVERY_MS = 5_000;
/** Signals may be lost, so all active rollouts are listed this often. */
const SWEEP_MS = 60_000;
const PASS_DEADLINE_MS = 60_000;

export function createRolloutReconciler(options: RolloutReconcilerOptions): RolloutReconciler {
  const { db, execute } = options;

  /** The result: whether the key needs another pass. */
  const loop = createLeaderLoop<boolean, typeof db>({
    ...loopParts(options),
    name: 'rollout reconciler',
    signalName: ROLLOUTS_LOOP,
    deadlineMs: PASS_DEADLINE_MS,
    failure: { key: 'rollout', message: 'rollout pass failed' },
    listKeys: async () => [ALL_ROLLOUTS],
    standBy: () => false,
    async reconcile(key, pass) {
      if (key !== ALL_ROLLOUTS)
        return runRolloutPass(reconcilerContext(options, 'rollout', pass), execute, key);
      for (const id of await listActiveRollouts(db)) loop.wake(id, 'sweep');
      return true;
    },
    resync: (key, isActive) => (isActive ? (key === ALL_ROLLOUTS ? SWEEP_MS : EVERY_MS) : null),
  });

  return {
    start: loop.start,
    reconcile: (rolloutId) => loop.reconcile(rolloutId, 'requested'),
    stop: loop.stop,
  };
}
