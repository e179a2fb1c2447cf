import type { Clock } from '../../reconcilers/loops/clock.ts';
import type { ConfigResponse } from '../../schemas/agent/protocol.ts';
import type { Logger } from '../log.ts';
import type { PollInterval } from '../poll-interval.ts';
import type { SelfMetrics } from '../report/self-metrics.ts';
import { coalesce } from './coalesce.ts';
import type { Poller, PollOutcome } from './poll.ts';

export interface PollLoopOptions {
  poller: Poller;
  interval: PollInterval;
  metrics: SelfMetrics;
  clock: Clock;
  log: Logger;
  /** A poll of the timer begins. */
  onTimer: () => void;
  /** The controller has just accepted the node token. */
  onAccepted: () => void;
  onConfig: (config: ConfigResponse) => void;
  /** The status of the answer; undefined where no usable answer came. */
  onFailed: (status: number | undefined) => void;
  /** A poll is over. `pushed`: a push message asked for it. */
  onEnd: (pushed: boolean) => void;
}

/** Share of the poll period by which single polls are moved, so that nodes started together drift apart. */
const POLL_JITTER = 0.1;

/** Asks for the desired state, by the timer and when a push message says so; one poll at a time. */
export class PollLoop {
  readonly #options: PollLoopOptions;
  readonly trigger: () => void;
  #cancelTick = () => {};
  #pushed = false;
  #quietUntil = 0;
  #lastReason = '';
  #stopped = false;

  constructor(options: PollLoopOptions) {
    this.#options = options;
    this.trigger = coalesce(() => this.#guardedPoll());
  }

  /** Something may have changed. Ignored while the controller asks for quiet: the tick comes in time. */
  triggerByPush(): void {
    if (this.#stopped || this.#options.clock.monotonic() < this.#quietUntil) return;
    this.#pushed = true;
    this.trigger();
  }

  /** The period that a push message sets. */
  setInterval(ms: number): void {
    const { interval, log } = this.#options;
    if (!interval.set(ms)) return;
    log.info('poll interval set by the controller', { ms: interval.ms });
    this.#schedule(undefined);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTick();
  }

  /** A fault of our own must not end the program that holds the engines: it is logged, and the next tick retries. */
  async #guardedPoll(): Promise<void> {
    try {
      await this.#poll();
    } catch (error) {
      this.#options.log.error('poll failed unexpectedly', { reason: String(error) });
      this.#schedule(undefined);
    }
  }

  async #poll(): Promise<void> {
    const { poller, metrics, clock, onTimer, onEnd } = this.#options;
    const startedAt = clock.monotonic();
    // A push message asked for this poll before the answer to the last one asked for quiet.
    const tooSoon = this.#pushed && startedAt < this.#quietUntil;
    const pushed = this.#pushed;
    this.#pushed = false;
    if (this.#stopped || tooSoon) return;
    this.#cancelTick();
    if (!pushed) onTimer();
    const outcome = await poller.poll();
    if (this.#stopped) return;
    this.#apply(outcome);
    metrics.pollSeconds = (clock.monotonic() - startedAt) / 1000;
    this.#schedule(outcome.type === 'failed' ? outcome.retryAfterMs : undefined);
    onEnd(pushed);
  }

  #apply(outcome: PollOutcome): void {
    const { metrics, log, onConfig, onFailed } = this.#options;
    if (outcome.type === 'failed') {
      metrics.pollErrors += 1;
      onFailed(outcome.status);
      if (outcome.reason !== this.#lastReason)
        log.warn('poll failed; pipelines go on as they are', { reason: outcome.reason });
      this.#lastReason = outcome.reason;
      return;
    }
    this.#options.onAccepted();
    if (this.#lastReason) log.info('poll works again');
    this.#lastReason = '';
    if (outcome.type === 'config') onConfig(outcome.config);
  }

  #schedule(retryAfterMs: number | undefined): void {
    const { interval, clock } = this.#options;
    const drift = 1 + POLL_JITTER * (Math.random() - 0.5);
    const now = clock.monotonic();
    // Nodes that were refused in one moment do not come back in one.
    if (retryAfterMs) this.#quietUntil = now + retryAfterMs * (1 + POLL_JITTER * Math.random());
    const waitMs = Math.max(interval.ms * drift, this.#quietUntil - now);
    this.#cancelTick();
    if (!this.#stopped) this.#cancelTick = clock.after(waitMs, this.trigger);
  }
}
