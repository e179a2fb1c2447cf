/** When heartbeats go out: after each poll, and soon after a status has changed. */
import type { Clock } from '../../reconcilers/loops/clock.ts';
import { LIMITS } from '../limits.ts';

/** Lets the changes of one moment share a heartbeat, and still go out within 100 ms. */
const STATUS_GATHER_MS = 25;
const STATUS_PERIOD_MS = 1_000;

/** Why a heartbeat is due: a poll of the timer has ended, a pushed one has, or a status is another than before. */
export type HeartbeatReason = 'poll' | 'push' | 'status';

/** Decides when heartbeats go out: one in flight, rapid reasons joined into one. */
export class HeartbeatSchedule {
  readonly #clock: Clock;
  readonly #send: (reason: HeartbeatReason) => Promise<void>;
  #reason: HeartbeatReason = 'poll';
  #dueAt = Number.POSITIVE_INFINITY;
  #cancel = () => {};
  #sending = false;
  #lastAt = Number.NEGATIVE_INFINITY;
  #notBefore = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(clock: Clock, send: (reason: HeartbeatReason) => Promise<void>) {
    this.#clock = clock;
    this.#send = send;
  }

  request(reason: HeartbeatReason): void {
    const now = this.#clock.monotonic();
    const wish = {
      poll: now,
      push: now + LIMITS.heartbeatDebounceMs,
      status: Math.max(now + STATUS_GATHER_MS, this.#lastAt + STATUS_PERIOD_MS),
    }[reason];
    const dueAt = Math.max(wish, this.#notBefore);
    if (this.#stopped || dueAt >= this.#dueAt) return;
    this.#dueAt = dueAt;
    this.#reason = reason;
    if (!this.#sending) this.#arm();
  }

  /** The controller asked for quiet. */
  pause(ms: number): void {
    this.#notBefore = this.#clock.monotonic() + ms;
    // One that became due while the refused one was under way waits too.
    if (this.#dueAt < this.#notBefore) this.#dueAt = this.#notBefore;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #arm(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(
      Math.max(0, this.#dueAt - this.#clock.monotonic()),
      () => void this.#run(),
    );
  }

  async #run(): Promise<void> {
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#sending = true;
    this.#lastAt = this.#clock.monotonic();
    try {
      await this.#send(this.#reason);
    } finally {
      this.#sending = false;
      if (this.#dueAt !== Number.POSITIVE_INFINITY && !this.#stopped) this.#arm();
    }
  }
}
