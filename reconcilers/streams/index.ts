/**
 * Sends streams: on the leader, one loop key per stream. What comes is looked for every second; an endpoint that fails is
 * asked again with growing pauses, and one that refuses for good slowly, until somebody changes the stream.
 */
import {
  type Delivery,
  deliverNext,
  listEnabledStreams,
  STREAMS_LOOP,
} from '../../controller/insight/streams/index.ts';
import { backoff, jitter } from '../loops/backoff.ts';
import { createLeaderLoop } from '../loops/leader-loop.ts';
import { loopParts, type ReconcilerOptions, reconcilerContext } from '../reconciler-context.ts';

export interface StreamReconciler {
  start(): Promise<void>;
  stop(): Promise<void>;
}

const EVERY_MS = 1_000;
const afterFailures = backoff({ firstMs: 2_000, capMs: 5 * 60_000 });
const AFTER_REFUSAL_MS = 10 * 60_000;
const MOST_PATIENCE_MS = 60 * 60_000;
/** Batches of one pass; the next one follows at once. */
const BATCHES = 20;
/** As many as there may be streams: a slow endpoint keeps no other waiting. */
const CONCURRENCY = 20;
const PASS_DEADLINE_MS = 5 * 60_000;

export function createStreamReconciler(options: ReconcilerOptions): StreamReconciler {
  const { db, log } = options;
  /** Streams whose last delivery failed: each failure is logged once. */
  const failing = new Map<string, string>();

  const loop = createLeaderLoop<Delivery, typeof db>({
    ...loopParts(options),
    name: 'stream reconciler',
    signalName: STREAMS_LOOP,
    concurrency: CONCURRENCY,
    deadlineMs: PASS_DEADLINE_MS,
    failure: { key: 'stream', message: 'a stream was not delivered' },
    listKeys: () => listEnabledStreams(db),
    standBy: () => ({ state: 'off' }),
    async reconcile(id, pass) {
      const ctx = reconcilerContext(options, 'streams', pass);
      let delivery = await deliverNext(ctx, id);
      for (let batch = 1; batch < BATCHES && delivery.state === 'delivered'; batch += 1) {
        if (pass.signal.aborted || !pass.leads()) break;
        delivery = await deliverNext(ctx, id);
      }
      logChange(id, delivery);
      return delivery;
    },
    resync: (_, delivery) => pauseAfter(delivery),
  });

  function logChange(id: string, delivery: Delivery): void {
    if (delivery.state === 'failed') {
      if (failing.get(id) === delivery.error) return;
      failing.set(id, delivery.error);
      log.warn({ stream: id, reason: delivery.error }, 'a stream is not delivered; its entries wait');
    } else if (failing.delete(id) && delivery.state !== 'off')
      log.info({ stream: id }, 'a stream is delivered again');
  }

  return { start: loop.start, stop: loop.stop };
}

/** Milliseconds until the next pass; null where only a change of the stream asks for one. */
export function pauseAfter(delivery: Delivery): number | null {
  switch (delivery.state) {
    case 'off':
      return null;
    case 'idle':
      return EVERY_MS;
    case 'delivered':
      return 0;
    case 'failed': {
      const own = delivery.isTemporary ? jitter(afterFailures(delivery.failures)) : AFTER_REFUSAL_MS;
      return Math.min(MOST_PATIENCE_MS, Math.max(own, delivery.retryAfterMs ?? 0));
    }
  }
}
