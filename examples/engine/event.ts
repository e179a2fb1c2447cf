/**
 * A time as an event carries it: its RFC 3339 text, so that no digit is lost on the way.
 * The class tells a time from a string, which matters to VRL.
 */
export class Timestamp {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  static now(): Timestamp {
    return new Timestamp(new Date().toISOString());
  }

  toJSON(): string {
    return this.text;
  }
}

/** A log event. Treat as immutable once sent: several components may hold the same object. */
export type LogEvent = { [field: string]: unknown };

export interface Metric {
  name: string;
  namespace: string | undefined;
  tags: Record<string, string>;
  /** Milliseconds since the epoch. */
  timestamp: number;
  kind: 'absolute' | 'incremental';
  type: 'counter' | 'gauge';
  value: number;
}

export type DataType = 'log' | 'metric';

/** What travels between components. `bytes` estimates the events' size as JSON, as Vector's metrics do. */
export type Batch =
  | { kind: 'log'; events: LogEvent[]; bytes: number }
  | { kind: 'metric'; events: Metric[]; bytes: number };

export function logBatch(events: LogEvent[]): Batch {
  let bytes = 0;
  for (const event of events) bytes += jsonSize(event);
  return { kind: 'log', events, bytes };
}

export function metricBatch(events: Metric[]): Batch {
  let bytes = 0;
  // The fixed part stands for the field names, the time and the punctuation.
  for (const metric of events) bytes += 100 + metric.name.length + jsonSize(metric.tags);
  return { kind: 'metric', events, bytes };
}

/** Estimated length of a value as JSON; escapes and multi-byte characters are not counted. */
export function jsonSize(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return value.length + 2;
    case 'number':
      return Number.isInteger(value) ? (Math.abs(value) < 10 ? 1 : String(value).length) : 8;
    case 'boolean':
      return value ? 4 : 5;
    case 'object': {
      if (value === null) return 4;
      if (value instanceof Timestamp) return value.text.length + 2;
      if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + jsonSize(item) + 1, 2);
      let size = 2;
      const table = value as LogEvent;
      for (const key in table) size += key.length + 4 + jsonSize(table[key]);
      return size;
    }
    default:
      return 4;
  }
}
