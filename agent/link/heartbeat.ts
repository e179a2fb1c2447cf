import type { Clock } from '../../reconcilers/engine/clock.ts';
import type { HeartbeatRequest, HeartbeatResponse } from '../../schemas/agent/protocol.ts';
import { LIMITS } from '../limits.ts';
import { parseHeartbeatReply } from './answers.ts';
import { type Failure, request, requestFailure, statusFailure } from './http.ts';

/** Lets the changes of one moment share a heartbeat, and still go out within 100 ms. */
const STATUS_GATHER_MS = 25;
const STATUS_PERIOD_MS = 1_000;
const TIMEOUT_MS = 10_000;

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

export type HeartbeatOutcome =
  | { type: 'accepted'; reply: HeartbeatResponse }
  | ({ type: 'failed' } & Failure);

export async function sendHeartbeat(
  url: string,
  token: string,
  body: HeartbeatRequest,
  timeoutMs = TIMEOUT_MS,
): Promise<HeartbeatOutcome> {
  try {
    const answer = await request(`${url}/api/agent/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeoutMs,
      maxBytes: 1024 * 1024,
    });
    if (answer.status >= 200 && answer.status < 300)
      return { type: 'accepted', reply: parseHeartbeatReply(answer.text) };
    return { type: 'failed', ...statusFailure(answer) };
  } catch (error) {
    return { type: 'failed', ...requestFailure(error) };
  }
}
