/**
 * A run loop of which only the controller that holds the lease makes passes. It wakes its keys when it starts, when this
 * controller begins to lead, and when signals may have been missed; a signal of the type `wake` wakes one of them. What a
 * pass writes is fenced by the epoch under which the pass began.
 */
import { backoff, jitter } from './backoff.ts';
import type { Clock } from './clock.ts';
import { createRunLoop, type Pass, type RunLoopOptions } from './run-loop.ts';

/** `Tx` is the transaction that a write is made in. */
export interface LeaderLease<Tx> {
  /** Null while another controller leads. */
  epoch(): number | null;
  /** Throws inside `tx` unless this controller still leads under `epoch`. */
  fence(tx: Tx, epoch: number): Promise<void>;
  onChange(listener: (leading: boolean) => void): void;
}

/** Subscriptions to the signals that a loop needs; each returns the function that unsubscribes. */
export interface LoopSignals {
  onWake(listener: (signal: { loop: string; key: string; trigger: string }) => void): () => void;
  /** An environment was deleted. */
  onEnvironment(listener: (signal: { environmentId: string }) => void): () => void;
  /** Signals may have been missed. */
  onResync(listener: () => void): () => void;
}

export interface LeaderLog {
  warn(fields: object, message: string): void;
}

export interface LeaderPass<Tx> extends Pass {
  epoch: number;
  /** Throws inside `tx` where this controller no longer leads under `epoch`. */
  fence(tx: Tx): Promise<void>;
  leads(): boolean;
}

export interface LeaderLoopOptions<R, Tx> extends Omit<RunLoopOptions<R>, 'reconcile' | 'onFailure'> {
  clock: Clock;
  lease: LeaderLease<Tx>;
  signals: LoopSignals;
  log: LeaderLog;
  /** Its name in signals of the type `wake`; a loop without a name is woken by its owner only. */
  signalName?: string;
  /** The field of the log that holds the key, and the line for a pass that failed. */
  failure: { key: string; message: string };
  /** The keys that a controller starts with. */
  listKeys(): Promise<Iterable<string>>;
  /** One pass. Must be idempotent. */
  reconcile(key: string, pass: LeaderPass<Tx>): Promise<R>;
  /** Takes the place of a pass while another controller leads. What is remembered of the key may be dropped. */
  standBy(key: string): R | Promise<R>;
  /** For loops whose keys are environments: called once an environment is deleted and its key is gone from the loop. */
  forgetEnvironment?(environmentId: string): void;
  onFailure?(key: string, error: unknown): void;
}

export interface LeaderLoop<R> {
  /** Rejects where the keys cannot be listed. */
  start(): Promise<void>;
  /** Asks for a pass. The promise settles with the first pass that starts after this call. */
  reconcile(key: string, trigger: string): Promise<R>;
  /** Asks for a pass and does not wait. */
  wake(key: string, trigger: string): void;
  /** Settles when nothing runs and nothing is due right now. */
  idle(): Promise<void>;
  /** Aborts what runs, waits for it, and takes no more. */
  stop(): Promise<void>;
}

const LISTING_RETRY = { firstMs: 1_000, capMs: 60_000 };

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export function createLeaderLoop<R, Tx>(options: LeaderLoopOptions<R, Tx>): LeaderLoop<R> {
  const { clock, lease, signals, log, failure } = options;
  const delayAfter = backoff(LISTING_RETRY);
  let failedListings = 0;
  let cancelRetry: (() => void) | null = null;
  /** As the lease last said: its epoch is null for a moment where a renewal is late. */
  let leading = lease.epoch() !== null;
  let stopped = false;

  const loop = createRunLoop<R>({
    ...options,
    async reconcile(key, pass) {
      const epoch = lease.epoch();
      if (epoch === null) return options.standBy(key);
      return options.reconcile(key, {
        ...pass,
        epoch,
        fence: (tx) => lease.fence(tx, epoch),
        leads: () => lease.epoch() === epoch,
      });
    },
    onFailure(key, error, retryInMs) {
      log.warn(
        { [failure.key]: key, reason: reasonOf(error), retryInMs: Math.round(retryInMs) },
        failure.message,
      );
      options.onFailure?.(key, error);
    },
  });

  async function wakeAll(trigger: string): Promise<void> {
    for (const key of await options.listKeys()) loop.wake(key, trigger);
  }

  function endRetries(): void {
    cancelRetry?.();
    cancelRetry = null;
    failedListings = 0;
  }

  /**
   * Lists again until it succeeds: one statement may fail while the connection of the bus stays whole, and then no `resync`
   * follows. A controller that does not lead lists its keys when it begins to lead.
   */
  async function wakeAllLater(trigger: string): Promise<void> {
    try {
      await wakeAll(trigger);
      endRetries();
    } catch (error) {
      if (stopped || !leading) return;
      failedListings += 1;
      const retryInMs = jitter(delayAfter(failedListings), options.random);
      log.warn(
        { loop: options.name, reason: reasonOf(error), retryInMs: Math.round(retryInMs) },
        'the keys of a loop could not be listed',
      );
      cancelRetry?.();
      cancelRetry = clock.after(retryInMs, () => {
        cancelRetry = null;
        void wakeAllLater(trigger);
      });
    }
  }

  const subscriptions = [
    signals.onWake((signal) => {
      if (signal.loop === options.signalName) loop.wake(signal.key, signal.trigger);
    }),
    signals.onEnvironment(({ environmentId }) => {
      if (!options.forgetEnvironment) return;
      loop.forget(environmentId);
      options.forgetEnvironment(environmentId);
    }),
    signals.onResync(() => void wakeAllLater('resync')),
  ];
  lease.onChange((leads) => {
    leading = leads;
    endRetries();
    if (leads && !stopped) void wakeAllLater('leading');
  });

  return {
    start: () => wakeAll('start'),
    reconcile: loop.reconcile,
    wake: loop.wake,
    idle: loop.idle,
    async stop() {
      stopped = true;
      endRetries();
      for (const unsubscribe of subscriptions) unsubscribe();
      await loop.stop();
    },
  };
}
