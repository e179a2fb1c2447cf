/**
 * The reconciler of promotions. On the leader it follows each promotion that waits for its pull request until the merged
 * version runs or the promotion ends. Signals of git, pull requests and nodes wake it; the timer catches missed signals.
 */
import { listAwaiting, PROMOTIONS_LOOP } from '../../controller/delivery/promotions/index.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';
import { createCoalescer } from '../loops/coalesce.ts';
import { createLeaderLoop } from '../loops/leader-loop.ts';
import { loopParts, type ReconcilerOptions, reconcilerContext } from '../reconciler-context.ts';
import { type PassOutcome, runPromotionPass } from './pass.ts';

export interface PromotionReconciler {
  /** Runs one pass. */
  reconcile(requestId: string, trigger: string): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface PromotionReconcilerOptions extends ReconcilerOptions {
  execute: Execute;
}

const RESYNC_MS = 30_000;
const PASS_DEADLINE_MS = 2 * 60_000;
/** Nodes report often, so the signals of an environment are coalesced for this long. */
const COALESCE_MS = 500;

export function createPromotionReconciler(options: PromotionReconcilerOptions): PromotionReconciler {
  const { db, clock, services } = options;
  /** Waiting promotions, with their target environment. */
  const waiting = new Map<string, string>();

  const loop = createLeaderLoop<PassOutcome | null, typeof db>({
    ...loopParts(options),
    name: 'promotions',
    signalName: PROMOTIONS_LOOP,
    deadlineMs: PASS_DEADLINE_MS,
    failure: { key: 'requestId', message: 'promotion pass failed' },
    async listKeys() {
      const awaiting = await listAwaiting(db);
      for (const { id, targetEnvironmentId } of awaiting) waiting.set(id, targetEnvironmentId);
      return awaiting.map(({ id }) => id);
    },
    standBy(requestId) {
      waiting.delete(requestId);
      return null;
    },
    async reconcile(requestId, pass) {
      const ctx = reconcilerContext(options, 'promotions', pass);
      // A repository that does not answer must not delay other promotions.
      const outcome = await pass.aside(() => runPromotionPass(ctx, options.execute, requestId));
      if (outcome.isOver || outcome.environmentId === null) waiting.delete(requestId);
      else waiting.set(requestId, outcome.environmentId);
      return outcome;
    },
    resync: (_, outcome) => (outcome === null || outcome.isOver ? null : RESYNC_MS),
  });

  const coalescer = createCoalescer({
    clock,
    delayMs: COALESCE_MS,
    run(environmentId) {
      for (const [id, target] of waiting) if (target === environmentId) loop.wake(id, 'environment');
    },
  });
  const unsubscribe = services.bus.on('ui', ({ environmentId, topics }) => {
    const isRelevant = topics.some((topic) => topic === 'git' || topic === 'pipelines' || topic === 'fleet');
    if (isRelevant && environmentId !== null && [...waiting.values()].includes(environmentId))
      coalescer.note(environmentId);
  });

  return {
    reconcile: async (requestId, trigger) => void (await loop.reconcile(requestId, trigger)),
    start: loop.start,
    async stop() {
      unsubscribe();
      coalescer.stop();
      await loop.stop();
    },
  };
}
