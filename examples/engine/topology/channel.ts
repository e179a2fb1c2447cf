import type { Batch } from '../event.ts';
import type { BufferMetrics } from '../telemetry/buffer-metrics.ts';

interface Queued {
  batch: Batch;
  /** Milliseconds of `performance.now()`. */
  sentAt: number;
}

export type WhenFull = 'block' | 'drop_newest';

/**
 * The bounded buffer in front of a transform or sink: many producers, one consumer.
 * A producer that awaits `send` holds at most one batch beyond the capacity, which is how a slow sink slows a source.
 */
export class Channel {
  readonly #capacity: number;
  readonly #whenFull: WhenFull;
  readonly #metrics: BufferMetrics | undefined;
  readonly #queue: Queued[] = [];
  readonly #blocked: (() => void)[] = [];
  #head = 0;
  #events = 0;
  #producers = 0;
  #wake: (() => void) | undefined;

  /** `capacity` is in events. */
  constructor(capacity: number, whenFull: WhenFull = 'block', metrics?: BufferMetrics) {
    this.#capacity = capacity;
    this.#whenFull = whenFull;
    this.#metrics = metrics;
  }

  get size(): number {
    return this.#events;
  }

  addProducer(): void {
    this.#producers += 1;
  }

  /** The consumer ends once every producer has called this and the queue is empty. */
  producerDone(): void {
    this.#producers -= 1;
    if (this.#producers === 0) this.#wakeConsumer();
  }

  /** Queues the batch; the promise, if there is one, settles when the buffer has room again. */
  send(batch: Batch): Promise<void> | undefined {
    if (this.#whenFull === 'drop_newest' && this.#events >= this.#capacity) {
      this.#metrics?.discarded(batch);
      return undefined;
    }
    this.#queue.push({ batch, sentAt: performance.now() });
    this.#events += batch.events.length;
    this.#metrics?.received(batch);
    this.#wakeConsumer();
    if (this.#whenFull === 'drop_newest' || this.#events < this.#capacity) return undefined;
    return new Promise((resolve) => this.#blocked.push(resolve));
  }

  /** The next batch, or undefined at the end. */
  async receive(): Promise<Queued | undefined> {
    while (this.#head === this.#queue.length) {
      if (this.#producers === 0) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const next = this.#queue[this.#head]!;
    this.#head += 1;
    if (this.#head === this.#queue.length) {
      this.#queue.length = 0;
      this.#head = 0;
    } else if (this.#head >= 1024) {
      this.#queue.splice(0, this.#head);
      this.#head = 0;
    }
    this.#events -= next.batch.events.length;
    this.#metrics?.sent(next.batch);
    if (this.#events < this.#capacity) {
      for (const resume of this.#blocked.splice(0)) resume();
    }
    return next;
  }

  #wakeConsumer(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
