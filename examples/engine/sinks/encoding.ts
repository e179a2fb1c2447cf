import type { OptionReader } from '../config/option-reader.ts';
import { type Batch, type LogEvent, type Metric, Timestamp } from '../event.ts';

const CODECS = ['json', 'ndjson', 'text'] as const;

/** Turns one event of a batch into a line without its line break. */
export type Encode = (batch: Batch, index: number) => string;

/** Reads `encoding: {codec}`. `text` writes a log's message, `json` the whole event. */
export function readEncoding(options: OptionReader, messageKey: string): Encode {
  if (!options.has('encoding')) options.fail('missing field `encoding`');
  const encoding = options.nested('encoding');
  const codec = encoding.oneOf('codec', CODECS);
  const only = encoding.strings('only_fields');
  const except = new Set(encoding.strings('except_fields') ?? []);
  encoding.finish();

  const shape = (event: LogEvent): LogEvent => {
    if (!only && except.size === 0) return event;
    const kept = Object.entries(event).filter(
      ([name]) => (only ? only.includes(name) : true) && !except.has(name),
    );
    return Object.fromEntries(kept);
  };
  return (batch, index) => {
    if (batch.kind === 'metric') {
      const metric = batch.events[index]!;
      return codec === 'text' ? metricText(metric) : JSON.stringify(metricJson(metric));
    }
    const event = shape(batch.events[index]!);
    return codec === 'text' ? textOf(event[messageKey]) : JSON.stringify(event);
  };
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Timestamp) return value.text;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** A metric in the shape of Vector's JSON codec. */
function metricJson(metric: Metric) {
  return {
    name: metric.name,
    namespace: metric.namespace,
    tags: metric.tags,
    timestamp: new Date(metric.timestamp).toISOString(),
    kind: metric.kind,
    [metric.type]: { value: metric.value },
  };
}

function metricText(metric: Metric): string {
  const tags = Object.entries(metric.tags).map(([name, value]) => `${name}="${value}"`);
  const sign = metric.kind === 'absolute' ? '=' : '+';
  const name = metric.namespace ? `${metric.namespace}_${metric.name}` : metric.name;
  return `${new Date(metric.timestamp).toISOString()} ${name}{${tags.join(',')}} ${sign} ${metric.value}`;
}
