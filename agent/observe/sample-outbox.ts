import { backoff, jitter } from '../../reconcilers/loops/backoff.ts';
import type { Clock } from '../../reconcilers/loops/clock.ts';
import type { SampleResult } from '../../schemas/agent/protocol.ts';
import { LIMITS } from '../limits.ts';
import type { Logger } from '../log.ts';
import { type Deliver, type Delivery, isRefusal } from './delivery.ts';

export interface OutboxOptions {
  clock: Clock;
  log: Logger;
  deliver: Deliver;
}

interface Waiting {
  /** The result as JSON, and its bytes. */
  text: string;
  bytes: number;
  /** On the monotonic clock; nobody wants it later. */
  expiresAt: number;
}

/** All that waits, and one request. */
const MAX_BYTES = 8 * 1024 * 1024;
const REQUEST_BYTES = 4 * 1024 * 1024;
/** The first goes at once; then results of a second share a request, since the controller counts requests. */
const GATHER_MS = 25;
const PERIOD_MS = 1_000;
const pause = backoff({ firstMs: 1_000, capMs: 10_000 });

/** Results on their way to the controller: kept while it is away, until their request is over. */
export class SampleOutbox {
  readonly #options: OutboxOptions;
  #waiting: Waiting[] = [];
  #bytes = 0;
  #cancel: (() => void) | undefined;
  #sending = false;
  #failures = 0;
  #most: number = LIMITS.samples.components;
  #nextAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  add(result: SampleResult, expiresAt: number): void {
    if (this.#stopped) return;
    this.#expire();
    let text = JSON.stringify(result);
    let bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes > MAX_BYTES) {
      const error = 'left out: more results wait on the node than it keeps';
      text = JSON.stringify({ ...result, events: [], schema: [], error } satisfies SampleResult);
      bytes = Buffer.byteLength(text);
    }
    this.#waiting.push({ text, bytes, expiresAt });
    this.#bytes += bytes;
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    this.#waiting = [];
  }

  #arm(): void {
    if (this.#cancel || this.#sending || this.#stopped || this.#waiting.length === 0) return;
    const { clock } = this.#options;
    const waitMs = Math.max(GATHER_MS, this.#nextAt - clock.monotonic());
    this.#cancel = clock.after(waitMs, () => {
      this.#cancel = undefined;
      void this.#send();
    });
  }

  async #send(): Promise<void> {
    this.#expire();
    const batch = this.#batch();
    if (batch.length === 0) return;
    this.#sending = true;
    const body = `{"results":[${batch.map(({ text }) => text).join(',')}]}`;
    const outcome = await this.#deliver(body);
    this.#sending = false;
    const now = this.#options.clock.monotonic();
    if (outcome.accepted) {
      this.#failures = 0;
      this.#most = LIMITS.samples.components;
      this.#drop(batch);
      this.#nextAt = now + PERIOD_MS;
    } else this.#nextAt = now + this.#failed(outcome, batch);
    this.#arm();
  }

  /** A fault of our own must not end the deliveries: it is one more failure. */
  async #deliver(body: string): Promise<Delivery> {
    try {
      return await this.#options.deliver('samples', body);
    } catch (error) {
      return { accepted: false, reason: String(error), status: undefined, retryAfterMs: undefined };
    }
  }

  /** Answers how long to wait. One bad result must not take the others with it: they go alone then. */
  #failed(outcome: Delivery & { accepted: false }, batch: readonly Waiting[]): number {
    const { status, reason } = outcome;
    if (isRefusal(status)) {
      if (batch.length === 1) this.#drop(batch);
      this.#most = 1;
      this.#options.log.debug('the controller refused samples', { reason });
      return PERIOD_MS;
    }
    if (this.#failures === 0)
      this.#options.log.warn('samples not delivered, kept for the next try', { reason });
    this.#failures += 1;
    return Math.max(jitter(pause(this.#failures)), outcome.retryAfterMs ?? 0);
  }

  #batch(): Waiting[] {
    let left = REQUEST_BYTES;
    const end = this.#waiting.findIndex(({ bytes }, index) => {
      left -= bytes;
      return index >= this.#most || (left < 0 && index > 0);
    });
    return end === -1 ? [...this.#waiting] : this.#waiting.slice(0, end);
  }

  #drop(batch: readonly Waiting[]): void {
    const gone = new Set(batch);
    this.#waiting = this.#waiting.filter((entry) => !gone.has(entry));
    this.#bytes = this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #expire(): void {
    const now = this.#options.clock.monotonic();
    this.#drop(this.#waiting.filter(({ expiresAt }) => expiresAt <= now));
  }
}
