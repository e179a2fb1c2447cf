import type { ComponentContext, RunningSink } from '../component.ts';
import type { Batch } from '../event.ts';
import { type BatchLimits, EventBatcher, type EventGroup } from './event-batcher.ts';
import { type HttpTarget, sendRequest } from './http-client.ts';
import type { Payload } from './http-payload.ts';
import { RetryDelays, type RetryOptions, type Verdict, verdictOf } from './retry-policy.ts';

export interface HttpWriterOptions {
  target: HttpTarget;
  payload: Payload;
  batch: BatchLimits & { timeoutMs: number };
  retry: RetryOptions;
  /** Requests at a time; `adaptive` starts with one. */
  concurrency: number | 'adaptive';
}

const MAX_ADAPTIVE_CONCURRENCY = 8;

interface Outcome {
  verdict: Verdict;
  after: 'response' | 'error';
  reason: string;
}

/**
 * Gathers events and sends them. While a request waits for its next try it keeps its place, and once places and the
 * batch in hand are full `write` waits: that is how a receiver that is down slows the sources and loses nothing.
 */
export class HttpWriter implements RunningSink {
  readonly countsSent = true;
  readonly #options: HttpWriterOptions;
  readonly #context: ComponentContext;
  readonly #sent: (batch: Batch) => void;
  readonly #batcher: EventBatcher;
  #limit: number;
  #requests = 0;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;
  #isClosing = false;
  /** Called whenever a request has ended. */
  #onChange: (() => void) | undefined;

  constructor(options: HttpWriterOptions, context: ComponentContext) {
    this.#options = options;
    this.#context = context;
    this.#sent = context.metrics.sent();
    this.#batcher = new EventBatcher(options.batch);
    this.#limit = options.concurrency === 'adaptive' ? 1 : options.concurrency;
  }

  async write(batch: Batch): Promise<undefined> {
    this.#batcher.add(batch);
    this.#pump();
    await this.#until(() => !this.#batcher.hasFull);
  }

  /** Sends what is left, with as many tries as ever; the time for it is the limit of the graceful stop. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#pump();
    await this.#until(() => this.#requests === 0 && this.#batcher.events === 0);
    clearTimeout(this.#timer);
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
  }

  #pump(): void {
    while (this.#requests < this.#limit) {
      const group = this.#batcher.take(this.#isDue || this.#isClosing);
      if (!group) break;
      this.#start(group);
    }
    if (!this.#batcher.hasOpen) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#isDue = false;
      return;
    }
    this.#timer ??= setTimeout(() => {
      this.#isDue = true;
      this.#pump();
    }, this.#options.batch.timeoutMs);
  }

  #start(group: EventGroup): void {
    this.#requests += 1;
    void this.#deliver(group).finally(() => {
      this.#requests -= 1;
      this.#pump();
      const onChange = this.#onChange;
      this.#onChange = undefined;
      onChange?.();
    });
  }

  async #deliver(group: EventGroup): Promise<void> {
    const { metrics } = this.#context;
    const { payload, retry } = this.#options;
    const delays = new RetryDelays(retry);
    let body: Buffer<ArrayBuffer>;
    try {
      body = await payload.build(group);
    } catch (error) {
      return this.#drop(group, 'encoder_failed', 'Failed to build the request.', (error as Error).message);
    }
    for (;;) {
      const outcome = await this.#try(body);
      if (outcome.verdict === 'delivered') {
        const protocol = this.#options.target.url.startsWith('https:') ? 'https' : 'http';
        metrics.wireBytes('sent', protocol).value += body.length;
        for (const part of group.parts) this.#sent(part);
        this.#adapt(true);
        return;
      }
      if (outcome.verdict === 'drop') {
        return this.#drop(group, 'request_failed', 'Not retriable; dropping the request.', outcome.reason);
      }
      this.#adapt(false);
      const delay = delays.next();
      if (delay === undefined) {
        return this.#drop(
          group,
          'request_failed',
          'Retries exhausted; dropping the request.',
          outcome.reason,
        );
      }
      this.#context.log.limited('warn', `Retrying after ${outcome.after}.`, {
        [outcome.after === 'error' ? 'error' : 'reason']: outcome.reason,
      });
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }

  async #try(body: Buffer<ArrayBuffer>): Promise<Outcome> {
    const answer = await sendRequest(this.#options.target, body, this.#context.metrics);
    if ('status' in answer) {
      const reason = `Http Status: ${answer.status}`;
      return { verdict: verdictOf(answer.status), after: 'response', reason };
    }
    const reason = 'error' in answer ? answer.error : 'the request timed out; see `request.timeout_secs`';
    return { verdict: 'retry', after: 'error', reason };
  }

  #drop(group: EventGroup, errorType: string, message: string, reason: string): void {
    const { log, metrics } = this.#context;
    metrics.error(errorType, 'sending');
    metrics.discarded(group.events, false);
    log.limited('error', message, { reason });
    const summary = 'Service call failed. No retries or retries exhausted.';
    log.limited('error', summary, { error: reason, error_type: errorType, stage: 'sending' });
    log.limited('error', 'Events dropped', {
      intentional: false,
      count: group.events,
      reason: `"${summary}"`,
    });
  }

  /** One place more for each success that left others waiting, half of them after a failure. */
  #adapt(isGood: boolean): void {
    if (this.#options.concurrency !== 'adaptive') return;
    if (!isGood) this.#limit = Math.max(1, Math.floor(this.#limit / 2));
    else if (this.#batcher.hasFull) this.#limit = Math.min(MAX_ADAPTIVE_CONCURRENCY, this.#limit + 1);
  }
}
