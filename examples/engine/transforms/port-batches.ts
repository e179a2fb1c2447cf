import { type Batch, type DataType, type LogEvent, logBatch, type Metric, metricBatch } from '../event.ts';

/** Collects events by port while a batch is processed. */
export class PortBatches {
  readonly #kind: DataType;
  readonly #events = new Map<string, (LogEvent | Metric)[]>();

  constructor(kind: DataType) {
    this.#kind = kind;
  }

  add(port: string, event: LogEvent | Metric): void {
    const events = this.#events.get(port);
    if (events) events.push(event);
    else this.#events.set(port, [event]);
  }

  finish(): Map<string, Batch> {
    const batches = new Map<string, Batch>();
    for (const [port, events] of this.#events) {
      batches.set(
        port,
        this.#kind === 'log' ? logBatch(events as LogEvent[]) : metricBatch(events as Metric[]),
      );
    }
    return batches;
  }
}
