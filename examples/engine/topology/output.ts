import type { Batch } from '../event.ts';
import type { Channel } from './channel.ts';

/** Sees each batch that leaves an output. It must neither throw nor keep the events: they are not copies. */
export type Listener = (batch: Batch) => void;

/** One named output of a component: counts what leaves and hands it to every consumer. */
export class Output {
  readonly #consumers: Channel[] = [];
  readonly #count: (batch: Batch) => void;
  #listeners: readonly Listener[] = [];

  constructor(count: (batch: Batch) => void) {
    this.#count = count;
  }

  connect(channel: Channel): void {
    channel.addProducer();
    this.#consumers.push(channel);
  }

  /** Shows what leaves from now on; the answer ends it. */
  listen(listener: Listener): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  /** Settles when every consumer has room for more. */
  async send(batch: Batch): Promise<void> {
    if (batch.events.length === 0) return;
    this.#count(batch);
    for (const listen of this.#listeners) listen(batch);
    for (const consumer of this.#consumers) {
      const full = consumer.send(batch);
      if (full) await full;
    }
  }

  close(): void {
    for (const consumer of this.#consumers) consumer.producerDone();
  }
}
