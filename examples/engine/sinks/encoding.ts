import { optional, required, table, type Values } from '../config/options.ts';
import { list, text, variants } from '../config/shape.ts';
import { type Batch, type LogEvent, type Metric, Timestamp } from '../event.ts';

/** Turns one event of a batch into a line without its line break. */
export type Encode = (batch: Batch, index: number) => string;

const LACKING_CODECS = [
  'arrow_stream',
  'avro',
  'cef',
  'csv',
  'gelf',
  'logfmt',
  'native',
  'native_json',
  'otlp',
  'protobuf',
  'raw_message',
  'syslog',
];

const OPTIONS = {
  codec: required(
    variants(
      {
        json: 'The whole event as JSON.',
        ndjson: 'The whole event as JSON, always on a line of its own.',
        text: 'The message alone; of a metric, its name, tags and value.',
      },
      LACKING_CODECS,
    ),
    'How an event is written.',
  ),
  only_fields: optional(list(text), 'The fields of a log event to write; all where it is left out.'),
  except_fields: optional(list(text), 'The fields of a log event to leave out.'),
};
export type EncodingOptions = Values<typeof OPTIONS>;

export const encoding = required(
  table(OPTIONS, {
    name: 'codecs::encoding::EncodingConfig',
    lacking: [...LACKING_CODECS, 'json', 'metric_tag_values', 'timestamp_format'],
    ignoresUnknown: true,
  }),
  'How events are written.',
  { examples: [{ codec: 'json' }] },
);

export function encoderOf(options: EncodingOptions, messageKey: string): Encode {
  const { codec, only_fields: only } = options;
  const except = new Set(options.except_fields ?? []);
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
export function metricJson(metric: Metric) {
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
