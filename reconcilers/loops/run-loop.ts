/**
 * The loop that every reconciler runs on.
 *
 * Rules, per key:
 * - a trigger asks for a pass and never describes a change;
 * - one pass runs at a time; triggers that come during a pass are folded into a single next pass;
 * - a pass that throws is retried after a growing, jittered delay; a trigger meanwhile starts a pass at once;
 * - a pass that exceeds its deadline is aborted by its signal and counts as failed;
 * - keys wait for each other only beyond `concurrency`, in which `aside` does not count.
 */
import { backoff, jitter } from './backoff.ts';
import { type Clock, systemClock } from './clock.ts';

export interface Pass {
  signal: AbortSignal;
  /** What woke this pass, without repeats, at most 20. */
  triggers: readonly string[];
  /** The number of the last trigger that this pass serves. Triggers of all keys are numbered in order. */
  trigger: number;
  /** The number of the newest trigger of any key. */
  newestTrigger(): number;
  /**
   * For work that waits, for example for a slow server. Meanwhile the pass does not count towards `concurrency`; before it
   * continues, it waits for a free place.
   */
  aside<T>(work: () => Promise<T>): Promise<T>;
}

export interface RunLoopOptions<R> {
  name: string;
  /** One pass. Must be idempotent. */
  reconcile(key: string, pass: Pass): Promise<R>;
  /** Milliseconds until the next pass after a successful one; null where only a trigger asks for it. */
  resync?(key: string, result: R): number | null;
  onFailure?(key: string, error: unknown, retryInMs: number): void;
  concurrency?: number;
  deadlineMs?: number;
  backoffMs?: { first: number; cap: number };
  clock?: Clock;
  random?: () => number;
}

export interface RunLoop<R> {
  /** Asks for a pass. The promise settles with the first pass that starts after this call. */
  reconcile(key: string, trigger: string): Promise<R>;
  /** Asks for a pass and does not wait. */
  wake(key: string, trigger: string): void;
  /** Removes a key: its timers are cancelled, a running pass is aborted. */
  forget(key: string): void;
  keys(): string[];
  /** Settles when nothing runs and nothing is due right now. */
  idle(): Promise<void>;
  /** Aborts what runs, waits for it, and takes no more. */
  stop(): Promise<void>;
}

interface Waiting<R> {
  triggers: Set<string>;
  newest: number;
  promise: Promise<R>;
  resolve(result: R): void;
  reject(error: unknown): void;
}

interface KeyState<R> {
  next: Waiting<R> | null;
  running: AbortController | null;
  failures: number;
  cancelTimer: (() => void) | null;
  /** Its aborted pass still runs. The state is dropped with it, unless a trigger asks for the key again. */
  forgotten: boolean;
}

export class LoopStoppedError extends Error {
  constructor(name: string) {
    super(`${name} is stopping`);
    this.name = 'LoopStoppedError';
  }
}

export function createRunLoop<R>(options: RunLoopOptions<R>): RunLoop<R> {
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  const concurrency = options.concurrency ?? 4;
  const limits = options.backoffMs ?? { first: 1_000, cap: 60_000 };
  const delayAfter = backoff({ firstMs: limits.first, capMs: limits.cap });
  const states = new Map<string, KeyState<R>>();
  const ready: string[] = [];
  const idleWaiters: (() => void)[] = [];
  /** Passes whose work aside is done, and that wait for a free place. */
  const returning: (() => void)[] = [];
  let triggered = 0;
  let active = 0;
  let aside = 0;
  let stopped = false;

  function stateOf(key: string): KeyState<R> {
    let state = states.get(key);
    if (!state) {
      state = { next: null, running: null, failures: 0, cancelTimer: null, forgotten: false };
      states.set(key, state);
    }
    return state;
  }

  function request(key: string, trigger: string): Waiting<R> {
    const state = stateOf(key);
    state.forgotten = false;
    if (!state.next) {
      const { promise, resolve, reject } = Promise.withResolvers<R>();
      promise.catch(() => {});
      state.next = { triggers: new Set(), newest: 0, promise, resolve, reject };
      state.cancelTimer?.();
      state.cancelTimer = null;
      if (!state.running) ready.push(key);
    }
    triggered += 1;
    state.next.newest = triggered;
    if (state.next.triggers.size < 20) state.next.triggers.add(trigger);
    queueMicrotask(pump);
    return state.next;
  }

  function pump(): void {
    while (active < concurrency) {
      const resume = returning.shift();
      if (!resume) break;
      active += 1;
      resume();
    }
    while (!stopped && active < concurrency) {
      const key = ready.shift();
      if (key === undefined) break;
      const state = states.get(key);
      if (state?.next && !state.running) void runPass(key, state, state.next);
    }
    if (isIdle()) for (const done of idleWaiters.splice(0)) done();
  }

  const isIdle = () => active === 0 && aside === 0 && ready.length === 0;

  async function stepAside<T>(work: () => Promise<T>): Promise<T> {
    active -= 1;
    aside += 1;
    pump();
    try {
      return await work();
    } finally {
      const resumed = new Promise<void>((resume) => returning.push(resume));
      pump();
      await resumed;
      aside -= 1;
    }
  }

  async function runPass(key: string, state: KeyState<R>, waiting: Waiting<R>): Promise<void> {
    state.next = null;
    const controller = new AbortController();
    state.running = controller;
    active += 1;
    const cancelDeadline = options.deadlineMs
      ? clock.after(options.deadlineMs, () =>
          controller.abort(new Error(`${options.name} ${key} took longer than ${options.deadlineMs} ms`)),
        )
      : () => {};
    let requeueInMs: number | null = null;
    try {
      const result = await options.reconcile(key, {
        signal: controller.signal,
        triggers: [...waiting.triggers],
        trigger: waiting.newest,
        newestTrigger: () => triggered,
        aside: stepAside,
      });
      state.failures = 0;
      requeueInMs = options.resync?.(key, result) ?? null;
      waiting.resolve(result);
    } catch (error) {
      state.failures += 1;
      requeueInMs = jitter(delayAfter(state.failures), random);
      if (!stopped && !state.forgotten) options.onFailure?.(key, error, requeueInMs);
      waiting.reject(error);
    } finally {
      cancelDeadline();
      state.running = null;
      active -= 1;
      if (state.forgotten) states.delete(key);
      else if (!stopped) {
        if (state.next) ready.push(key);
        else if (requeueInMs !== null)
          state.cancelTimer = clock.after(requeueInMs, () => void request(key, 'timer'));
        // Keys stand for rollouts and promotions, which come and go.
        else states.delete(key);
      }
      pump();
    }
  }

  return {
    reconcile(key, trigger) {
      if (stopped) return Promise.reject(new LoopStoppedError(options.name));
      return request(key, trigger).promise;
    },
    wake(key, trigger) {
      if (!stopped) request(key, trigger);
    },
    forget(key) {
      const state = states.get(key);
      if (!state) return;
      state.cancelTimer?.();
      state.next?.reject(new LoopStoppedError(options.name));
      state.next = null;
      state.running?.abort(new LoopStoppedError(options.name));
      // The next pass of the key must wait for one that still runs.
      state.forgotten = state.running !== null;
      if (!state.forgotten) states.delete(key);
    },
    keys: () => [...states].flatMap(([key, state]) => (state.forgotten ? [] : [key])),
    idle() {
      if (isIdle()) return Promise.resolve();
      return new Promise((resolve) => idleWaiters.push(resolve));
    },
    async stop() {
      stopped = true;
      ready.length = 0;
      for (const state of states.values()) {
        state.cancelTimer?.();
        state.next?.reject(new LoopStoppedError(options.name));
        state.running?.abort(new LoopStoppedError(options.name));
      }
      if (active + aside > 0) await new Promise<void>((resolve) => idleWaiters.push(resolve));
    },
  };
}
