/** The settings at the top of a configuration, beside its components. */
import { isTimeZone } from '../templates/time-zone.ts';
import { unitTest } from '../unit-tests/definition.ts';
import { address } from './address.ts';
import { defaulted, type Options, optional, table } from './options.ts';
import { refusal, unavailable } from './refusals.ts';
import { anything, either, flag, list, number, refined, type Shape, text, variants } from './shape.ts';

export const DEFAULT_DATA_DIR = '/var/lib/vector/';
export const DEFAULT_API_ADDRESS = '127.0.0.1:8686';

const fieldName = refined(text, (value, { name, path }) => {
  const field = value.replace(/^\./, '');
  if (!/^\w+$/.test(field)) throw refusal(`\`${name}\` must name one top-level field`, path);
  return field;
});

/** `local` is the zone of the process, by `TZ`. */
export const timezone = refined(text, (name, { path }) => {
  if (isTimeZone(name)) return name;
  throw refusal('invalid time zone', path);
});

const noLogNamespace: Shape<boolean> = {
  ...refined(flag, (value, { path }) => {
    if (value) throw unavailable('log_namespace', path);
    return value;
  }),
  schema: () => ({ const: false }),
};

export const API = {
  enabled: defaulted(flag, false, 'Whether the API is served.'),
  address: defaulted(address, DEFAULT_API_ADDRESS, 'The IP address and port of the API.'),
};

export const HEALTHCHECKS = {
  enabled: defaulted(flag, true, 'Whether sinks are asked at the start whether their receivers are well.'),
  require_healthy: defaulted(flag, false, 'Whether an unhealthy sink keeps the engine from starting.'),
};

export const SCHEMA = {
  log_namespace: defaulted(noLogNamespace, false, 'Not available in this engine.', { advanced: true }),
  enabled: defaulted(flag, false, 'Taken for the sake of Vector, and without effect.', { advanced: true }),
  validation: defaulted(flag, false, 'Taken for the sake of Vector, and without effect.', { advanced: true }),
};

export const LOG_SCHEMA = {
  message_key: defaulted(fieldName, 'message', "The field for an event's message."),
  timestamp_key: defaulted(fieldName, 'timestamp', "The field for an event's time."),
  host_key: defaulted(fieldName, 'host', "The field for an event's host."),
  source_type_key: defaulted(fieldName, 'source_type', 'The field for the type of the source.'),
  metadata_key: defaulted(fieldName, 'metadata', 'The field for the metadata of the engine.'),
};

const acknowledging = {
  enabled: optional(flag, 'Whether sources wait until sinks have sent their events.'),
};
/** Without effect here: nothing is acknowledged from end to end. */
export const acknowledgements = optional(
  either(flag, table(acknowledging, { ignoresUnknown: true }), 'vector_core::config::AcknowledgementsConfig'),
  'Taken for the sake of Vector, and without effect.',
  { advanced: true },
);

/** Those at the top that only Vector has. */
export const GLOBAL_LACKING: readonly string[] = [
  'buffer_utilization_ewma_half_life_seconds',
  'enrichment_tables',
  'expire_metrics_per_metric_set',
  'latency_ewma_alpha',
  'metrics_storage_refresh_period',
  'provider',
  'secret',
  'telemetry',
];

/** Each is read on its own, so that a mistake in one does not hide those in others. */
export const GLOBAL_OPTIONS = {
  data_dir: defaulted(text, DEFAULT_DATA_DIR, 'Where the engine keeps what it must not forget.'),
  timezone: defaulted(timezone, 'local', 'The time zone of times in templates that have none.', {
    examples: ['local', 'America/New_York', 'EST5EDT'],
    advanced: true,
  }),
  wildcard_matching: defaulted(
    variants({ strict: 'Each must match something.', relaxed: 'It may match nothing.' }),
    'strict',
    'What wildcards in `inputs` must match.',
  ),
  expire_metrics_secs: defaulted(number(), 300, 'Taken for the sake of Vector, and without effect.', {
    unit: 'seconds',
    advanced: true,
  }),
  api: defaulted(table(API), {}, 'The API of the engine.'),
  healthchecks: defaulted(table(HEALTHCHECKS, { ignoresUnknown: true }), {}, 'Health checks of sinks.'),
  schema: defaulted(table(SCHEMA), {}, 'How events are typed.', { advanced: true }),
  log_schema: defaulted(
    table(LOG_SCHEMA, { ignoresUnknown: true }),
    {},
    'The well-known fields of log events.',
  ),
  acknowledgements,
  proxy: optional(anything, 'Taken for the sake of Vector, and without effect.', { advanced: true }),
  tests: defaulted(list(unitTest), [], 'Unit tests of transforms, run by `test`.', { advanced: true }),
} satisfies Options;
