/** Filters with one small program each. */

import { HOST_VARIABLE } from '../../event-form.ts';
import { readHash } from '../../params.ts';
import type { Section } from '../../section/section.ts';
import { accessorPath, vrlPath, vrlString } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';

export function stdoutFilterRule(section: Section, draft: Draft): void {
  section.ignore('use_logger', 'format', 'output_type', 'time_format');
  section.ignoreChildren('format', 'inject');
  draft.remap('', ['.']);
  draft.add({
    ...{ name: 'print', kind: 'SINK', type: 'console' },
    config: { encoding: { codec: 'json', except_fields: ['_fluentd'] } },
    from: [''],
  });
  draft.difference(
    'Events are printed as JSON without time and tag, into the log of the pipeline.',
    section.line,
    'small',
  );
}

/** Metrics of records: counters per label. The engine counts events itself; own metrics need a log_to_metric. */
export function prometheusFilterRule(section: Section, draft: Draft): void {
  const shared = labelsOf(section, draft);
  const metrics = section.children('metric').flatMap((metric) => {
    metric.ignore('desc', 'retention', 'retention_check_interval', 'topk', 'initialized');
    metric.ignoreChildren('initlabels');
    const name = metric.plain('name') ?? 'fluentd_metric';
    const type = metric.plain('type') ?? 'counter';
    const key = metric.plain('key');
    const buckets = metric.plain('buckets');
    if (buckets !== undefined)
      draft.difference('Buckets are those of the exporter.', metric.lineOf('buckets'), 'small');
    const field = key === undefined ? '_fluentd.tag' : vrlPath(accessorPath(key)).slice(1);
    const tags = { ...shared, ...labelsOf(metric, draft) };
    return [
      {
        type: type === 'summary' ? 'summary' : type,
        ...{ field, name },
        ...(type === 'counter' && key !== undefined ? { increment_by_value: true } : {}),
        ...(Object.keys(tags).length > 0 ? { tags } : {}),
      },
    ];
  });
  section.ignoreChildren('labels');
  draft.remap('', ['.']);
  if (metrics.length === 0) return;
  draft.add({ name: 'metrics', kind: 'TRANSFORM', type: 'log_to_metric', config: { metrics }, from: [''] });
  draft.add({
    ...{ name: 'exporter', kind: 'SINK', type: 'prometheus_exporter' },
    config: { address: '0.0.0.0:24231' },
    from: ['metrics'],
  });
  draft.difference(
    'Metrics are served at port 24231, path /metrics, by an exporter of this pipeline.',
    section.line,
    'small',
  );
}

const LABELS: Readonly<Record<string, string>> = {
  tag: '{{ _fluentd.tag }}',
  hostname: HOST_VARIABLE,
  worker_id: '0',
};

/** `<labels>`: values are `${tag}`, fields, or texts. */
function labelsOf(section: Section, draft: Draft): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const part of section.children('labels')) {
    for (const { key, value, line } of part.directive.params) {
      part.ignore(key);
      const placeholder = /^\$\{(tag|hostname|worker_id)\}$/.exec(value)?.[1];
      if (placeholder !== undefined) labels[key] = LABELS[placeholder] ?? '';
      else if (value.startsWith('$.') || value.startsWith('$['))
        labels[key] = `{{ ${vrlPath(accessorPath(value)).slice(1)} }}`;
      else if (/\$\{/.test(value)) draft.difference(`The label ${key} is not translated.`, line);
      else labels[key] = value.replaceAll('$', '$$$$');
    }
  }
  return labels;
}

/** `dedot`: dots in names of fields. */
export function dedotRule(section: Section, draft: Draft): void {
  const separator = section.plain('de_dot_separator') ?? '_';
  const nested = section.bool('de_dot_nested', false);
  section.ignore('de_dot');
  draft.remap('', [
    `. = map_keys(., recursive: ${nested}) -> |key| { replace(key, ".", ${vrlString(separator)}) }`,
  ]);
}

export function flattenHashRule(section: Section, draft: Draft): void {
  const separator = section.plain('separator') ?? '.';
  section.ignore('flatten_array');
  if (section.bool('flatten_array', true))
    draft.difference('Arrays are not flattened.', section.line, 'small');
  draft.remap('', [
    'beside = del(._fluentd)',
    `. = flatten(., separator: ${vrlString(separator)})`,
    '._fluentd = beside',
  ]);
}

/** `typecast`: `types a:integer,b:bool`. */
export function typecastRule(section: Section, draft: Draft): void {
  const casts: Readonly<Record<string, string>> = {
    string: 'to_string',
    integer: 'to_int',
    float: 'to_float',
    bool: 'to_bool',
  };
  const lines = Object.entries(readHash(section.plain('types') ?? '')).flatMap(([key, type]) => {
    const cast = casts[String(type)];
    const field = vrlPath([key]);
    if (cast) return [`if exists(${field}) { ${field} = ${cast}!(${field}) }`];
    draft.difference(
      `The type ${String(type)} of ${key} is not converted.`,
      section.lineOf('types'),
      'small',
    );
    return [];
  });
  draft.remap('', lines.length > 0 ? lines : ['.']);
}

/** A hash of the record as id, so that a target stores an event once. */
export function genidRule(section: Section, draft: Draft): void {
  section.ignore(
    'use_record_as_seed',
    'record_keys',
    'use_entire_record',
    'separator',
    'include_tag_in_seed',
  );
  section.ignore(
    'include_time_in_seed',
    'hash_type',
    'keys',
    'hash_id_key',
    'set_hash_id_base',
    'base64_enc',
    'base91_enc',
  );
  const keys = section.array('record_keys') ?? section.array('keys');
  const target =
    section.plain('hash_id_key') ??
    (section.plugin.startsWith('genhash') ? (section.plain('hash_key') ?? '_hash') : '_hash');
  const seeded = keys !== undefined && keys.length > 0;
  const source = seeded
    ? keys.map((key) => `(to_string(${vrlPath([key])}) ?? "")`).join(' + "_" + ')
    : section.plugin.startsWith('genhash')
      ? 'encode_json(.)'
      : 'uuid_v4()';
  draft.remap('', [
    `${vrlPath([target])} = ${seeded || source !== 'uuid_v4()' ? `sha2(${source}, variant: "SHA-256")` : source}`,
  ]);
  draft.difference('Ids have another form than those of Fluentd, and are as unique.', section.line, 'small');
}

/** `throttle`: so many records of a group in a time. */
export function throttleRule(section: Section, draft: Draft): void {
  section.ignore('group_reset_rate_s', 'group_warning_delay_s', 'group_drop_logs', 'group_gc_timeout_s');
  const [key, ...more] = (section.plain('group_key') ?? 'kubernetes.container_name').split(',');
  const field = key === undefined ? '' : key.startsWith('$') ? vrlPath(accessorPath(key)).slice(1) : key;
  if (more.length > 0)
    draft.difference('Events are grouped by the first field of group_key.', section.lineOf('group_key'));
  draft.add({
    ...{ name: '', kind: 'TRANSFORM', type: 'throttle' },
    config: {
      key_field: `{{ ${field} }}`,
      threshold: section.integer('group_bucket_limit') ?? 6000,
      window_secs: section.time('group_bucket_period_s') ?? 60,
    },
  });
}

/** The engine asks databases through an enrichment table, which is a global option of the pipeline. */
export function geoipRule(section: Section, draft: Draft): void {
  section.ignore(
    'backend_library',
    'geoip_database',
    'geoip2_database',
    'skip_adding_null_record',
    'flush_interval',
  );
  const keys = section.array('geoip_lookup_keys') ?? section.array('geoip_lookup_key') ?? ['host'];
  const path =
    section.text('geoip2_database') ?? section.text('geoip_database') ?? '/etc/vector/GeoLite2-City.mmdb';
  const [key = 'host'] = keys;
  const fields = section.children('record').flatMap((record) =>
    record.directive.params.flatMap(({ key: name, value, line }) => {
      record.ignore(name);
      const code = geoValue(value, key);
      if (code) return [{ name, code }];
      draft.difference(`The value of ${name} is not translated.`, line);
      return [];
    }),
  );
  section.ignore('enable_key_country_code', 'enable_key_city', 'enable_key_latitude', 'enable_key_longitude');
  draft.action(
    `Add the global option enrichment_tables: {geoip: {type: geoip, path: "${path}"}}, with the file on the nodes.`,
    section.line,
  );
  if (keys.length > 1)
    draft.difference(
      'Only the first of the keys is looked up.',
      section.lineOf('geoip_lookup_keys'),
      'large',
    );
  draft.remap('', [
    `found = get_enrichment_table_record("geoip", {"ip": to_string(${vrlPath(accessorPath(key))}) ?? ""}) ?? {}`,
    ...(fields.length > 0
      ? fields.map(({ name, code }) => `${vrlPath([name])} = ${code}`)
      : ['.geoip = found']),
  ]);
  draft.difference(
    'Only fields of the city table are known: country, region, city, position, time zone.',
    section.line,
  );
}

const GEO_FIELDS: Readonly<Record<string, string>> = {
  'city.names.en': 'city_name',
  city: 'city_name',
  'country.iso_code': 'country_code',
  country_code: 'country_code',
  'country.names.en': 'country_name',
  country_name: 'country_name',
  'location.latitude': 'latitude',
  latitude: 'latitude',
  'location.longitude': 'longitude',
  longitude: 'longitude',
  'location.time_zone': 'timezone',
  'continent.code': 'continent_code',
  'postal.code': 'postal_code',
  'subdivisions.0.iso_code': 'region_code',
  'subdivisions.0.names.en': 'region_name',
  region: 'region_code',
};

/** `${city.names.en["host"]}`, alone or in an array. */
function geoValue(value: string, key: string): string | null {
  const array = /^'?\[([\s\S]*)\]'?$/.exec(value);
  if (array) {
    const items = (array[1] ?? '').split(',').map((item) => geoValue(item.trim(), key));
    return items.some((item) => item === null) ? null : `[${items.join(', ')}]`;
  }
  const match = /^"?\$\{([a-z_.0-9]+)\[["']([^"']+)["']\]\}"?$/.exec(value);
  const field = match?.[2] === key ? GEO_FIELDS[match[1] ?? ''] : undefined;
  return field === undefined ? null : `found.${field}`;
}

/** `key_picker` and `record_map` have no counterpart of their own; this one is plain. */
export function urlDecodeRule(section: Section, draft: Draft): void {
  const keys = section.array('fields') ?? section.array('keys') ?? [];
  draft.remap(
    '',
    keys.length === 0
      ? ['.']
      : keys.map(
          (key) =>
            `if is_string(${vrlPath([key])}) { ${vrlPath([key])} = decode_percent(string!(${vrlPath([key])})) }`,
        ),
  );
}

export function userAgentRule(section: Section, draft: Draft): void {
  section.ignore('delete_key', 'patterns_path', 'dont_split_os');
  const key = section.plain('key_name') ?? 'user_agent';
  const out = section.plain('out_key') ?? 'ua';
  const flatten = section.bool('flatten', false);
  const field = vrlPath([key]);
  draft.remap('', [
    `agent = parse_user_agent(to_string(${field}) ?? "")`,
    ...(section.bool('delete_key', false) ? [`del(${field})`] : []),
    flatten
      ? `. = merge(., map_keys(flatten(agent, separator: "_")) -> |name| { ${vrlString(`${out}_`)} + name })`
      : `${vrlPath([out])} = agent`,
  ]);
  draft.difference('The parts of an agent have the names that VRL gives them.', section.line, 'small');
}
