/**
 * The loop that every reconciler runs on.
 *
 * Rules, per key:
 * - a trigger says "look again" and never what changed;
 * - one pass at a time; triggers that come in while one runs are folded into a single next pass;
 * - a pass that throws is tried again after a growing, jittered delay; a trigger in the meantime looks at once;
 * - a pass that exceeds its deadline is aborted by its signal and counts as failed;
 * - keys do not wait for each other beyond `concurrency`, in which `aside` does not count.
 */
import { backoff, jitter } from './backoff.ts';
import { type Clock, systemClock } from './clock.ts';

export interface Pass {
  signal: AbortSignal;
  /** What woke this pass up, without repeats, at most 20. For the record only. */
  triggers: readonly string[];
  /** Of the last trigger that this pass answers; triggers of all keys of the loop are numbered as they come. */
  trigger: number;
  /** The number of the newest trigger: what begins now is newer than it. */
  newestTrigger(): number;
  /**
   * Work that waits for others, as for a slow server. Meanwhile the pass takes up none of the places that
   * `concurrency` gives; it waits for one again before it goes on.
   */
  aside<T>(work: () => Promise<T>): Promise<T>;
}

export interface RunLoopOptions<R> {
  name: string;
  /** One pass. Must be idempotent. */
  reconcile(key: string, pass: Pass): Promise<R>;
  /** When to look again after a pass that went through, in milliseconds; null is only when triggered. */
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
  look(key: string, trigger: string): Promise<R>;
  /** Asks for a pass and does not wait. */
  wake(key: string, trigger: string): void;
  /** Stops looking at a key: its timers are cancelled, a running pass is aborted. */
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
  /** Its aborted pass still runs; the state goes with it unless somebody asks for the key again. */
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
  /** Passes that waited aside and want to go on. */
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
      const goOn = returning.shift();
      if (!goOn) break;
      active += 1;
      goOn();
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
      const place = new Promise<void>((goOn) => returning.push(goOn));
      pump();
      await place;
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
        // Keys come and go with the rollouts and promotions that they name.
        else states.delete(key);
      }
      pump();
    }
  }

  return {
    look(key, trigger) {
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
      // A pass that runs on keeps its place: the next one of the key must wait for it.
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
