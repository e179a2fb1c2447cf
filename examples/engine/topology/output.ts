import type { Batch } from '../event.ts';
import type { Channel } from './channel.ts';

/** One named output of a component: counts what leaves and hands it to every consumer. */
export class Output {
  readonly #consumers: Channel[] = [];
  readonly #count: (batch: Batch) => void;

  constructor(count: (batch: Batch) => void) {
    this.#count = count;
  }

  connect(channel: Channel): void {
    channel.addProducer();
    this.#consumers.push(channel);
  }

  /** Settles when every consumer has room for more. */
  async send(batch: Batch): Promise<void> {
    if (batch.events.length === 0) return;
    this.#count(batch);
    for (const consumer of this.#consumers) {
      const full = consumer.send(batch);
      if (full) await full;
    }
  }

  close(): void {
    for (const consumer of this.#consumers) consumer.producerDone();
  }
}
