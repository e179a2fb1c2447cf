import { type Batch, type LogEvent, logBatch, type Metric, metricBatch } from '../event.ts';

export interface BatchLimits {
  maxEvents: number;
  /** Of the events' estimated size as JSON, before they are encoded. */
  maxBytes: number;
}

/** Events that leave together. */
export interface EventGroup {
  parts: Batch[];
  events: number;
  bytes: number;
}

/** Gathers events into groups of limited size, in order. One event larger than the limit goes by itself. */
export class EventBatcher {
  readonly #limits: BatchLimits;
  readonly #full: EventGroup[] = [];
  #open: EventGroup = emptyGroup();

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  get hasFull(): boolean {
    return this.#full.length > 0;
  }

  get hasOpen(): boolean {
    return this.#open.events > 0;
  }

  /** Events that were added and not taken. */
  get events(): number {
    return this.#full.reduce((sum, group) => sum + group.events, this.#open.events);
  }

  add(batch: Batch): void {
    if (this.#fits(batch)) this.#append(batch);
    else for (const single of singles(batch)) this.#addSingle(single);
  }

  /** The oldest full group; with `early` the open one too, once there is no other. */
  take(early: boolean): EventGroup | undefined {
    const full = this.#full.shift();
    if (full || !early || !this.hasOpen) return full;
    const open = this.#open;
    this.#open = emptyGroup();
    return open;
  }

  #addSingle(single: Batch): void {
    if (this.hasOpen && !this.#fits(single)) this.#close();
    this.#append(single);
  }

  #fits(batch: Batch): boolean {
    return (
      this.#open.events + batch.events.length <= this.#limits.maxEvents &&
      this.#open.bytes + batch.bytes <= this.#limits.maxBytes
    );
  }

  #append(batch: Batch): void {
    const { parts } = this.#open;
    parts.push(batch);
    this.#open.events += batch.events.length;
    this.#open.bytes += batch.bytes;
    if (this.#open.events >= this.#limits.maxEvents || this.#open.bytes >= this.#limits.maxBytes)
      this.#close();
  }

  #close(): void {
    this.#full.push(this.#open);
    this.#open = emptyGroup();
  }
}

function emptyGroup(): EventGroup {
  return { parts: [], events: 0, bytes: 0 };
}

function singles(batch: Batch): Batch[] {
  return batch.kind === 'log'
    ? batch.events.map((event: LogEvent) => logBatch([event]))
    : batch.events.map((metric: Metric) => metricBatch([metric]));
}
