/** Outputs to Elasticsearch and OpenSearch, which share their parameters. */
import { TAG, TIME } from '../../event-form.ts';
import type { Section } from '../../section/section.ts';
import { accessorPath, vrlPath, vrlString } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';
import { bufferOptions } from './buffer.ts';
import { RECORD_ONLY } from './encoding.ts';
import { authOf, endpointsOf, requestOf, streamOf, tlsOf } from './search-connection.ts';
import { ifSet, Target, unconfined } from './target.ts';

const IGNORED = [
  ...[
    'type_name',
    'reload_connections',
    'reload_on_failure',
    'reconnect_on_error',
    'resurrect_after',
    'sniffer_class_name',
  ],
  ...[
    'template_name',
    'template_file',
    'template_overwrite',
    'customize_template',
    'templates',
    'max_retry_putting_template',
  ],
  ...[
    'max_retry_get_es_version',
    'fail_on_putting_template_retry_exceed',
    'verify_es_version_at_startup',
    'with_transporter_log',
  ],
  ...[
    'default_elasticsearch_version',
    'default_opensearch_version',
    'log_es_400_reason',
    'log_os_400_reason',
    'http_backend',
  ],
  ...[
    'prefer_oj_serializer',
    'bulk_message_request_threshold',
    'suppress_type_name',
    'ssl_version',
    'ssl_max_version',
  ],
  ...[
    'ssl_min_version',
    'request_timeout',
    'include_timestamp',
    'logstash_prefix_separator',
    'logstash_dateformat',
  ],
  ...[
    'utc_index',
    'time_key_format',
    'time_key_exclude_timestamp',
    'time_precision',
    'exception_backup',
    'emit_error_for_missing_id',
  ],
  ...[
    'validate_client_version',
    'unrecoverable_error_types',
    'unrecoverable_record_types',
    'content_type',
    'compression_level',
  ],
  ...[
    'retry_tag',
    'write_operation',
    'time_parse_error_tag',
    'index_date_pattern',
    'application_name',
    'ignore_exceptions',
  ],
  ...[
    'use_legacy_template',
    'deflector_alias',
    'selector_class_name',
    'include_index_in_url',
    'rollover_index',
    'enable_ilm',
  ],
  ...[
    'ilm_policy_id',
    'ilm_policy',
    'data_stream_template_name',
    'data_stream_ilm_name',
    'data_stream_ilm_policy',
    'remove_keys_on_update',
  ],
  ...[
    'log_es_400_reason',
    'ca_path',
    'catch_transport_exception_on_retry',
    'refresh_credentials_interval',
    'custom_headers',
  ],
  ...[
    'flatten_hashes_separator',
    'target_index_affinity',
    'host_key',
    'logstash_format',
    'fail_on_detecting_es_version_retry_exceed',
  ],
  ...[
    'fail_on_detecting_os_version_retry_exceed',
    'max_retry_get_os_version',
    'verify_os_version_at_startup',
    'chunk_id_key',
  ],
];

export function searchRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(...IGNORED);
  const target = new Target(section, draft, prefix);
  const endpoints = endpointsOf(section, draft);
  const index = indexOf(target, draft);
  timestamp(target, draft);
  removal(target);
  noteTemplates(section, draft);
  const operation = section.plain('write_operation');
  const stream = section.plain('data_stream_name');
  const id = section.plain('id_key');
  const pipeline = section.text('pipeline');
  if (operation === 'update' || operation === 'upsert') {
    draft.difference(
      `The write operation ${operation} has no counterpart; documents are indexed.`,
      section.lineOf('write_operation'),
      'large',
    );
  }
  const isStream = stream !== undefined || section.plugin.endsWith('data_stream');
  target.write('elasticsearch', {
    endpoints,
    ...(isStream
      ? streamOf(section, draft)
      : { bulk: { action: operation === 'create' ? 'create' : 'index', index } }),
    ...ifSet('id_key', id === undefined ? undefined : vrlPath(accessorPath(id)).slice(1)),
    ...ifSet('pipeline', pipeline),
    ...(section.bool('suppress_type_name', false) ? { suppress_type_name: true } : {}),
    ...authOf(section, draft),
    ...tlsOf(section),
    ...(section.has('compression_level') && section.plain('compression_level') !== 'no_compression'
      ? { compression: 'gzip' }
      : {}),
    encoding: RECORD_ONLY,
    ...unconfined(isStream ? undefined : index),
    ...merged(bufferOptions(target, { batch: true, request: true }), requestOf(section)),
  });
}

function merged(options: Record<string, unknown>, request: Record<string, unknown>): Record<string, unknown> {
  if (Object.keys(request).length === 0) return options;
  return { ...options, request: { ...(options.request as object | undefined), ...request } };
}

function indexOf(target: Target, draft: Draft): string {
  const { section } = target;
  const logstash = section.bool('logstash_format', false);
  const key = section.plain('target_index_key');
  const plain = logstash
    ? `${section.text('logstash_prefix') ?? 'logstash'}${section.plain('logstash_prefix_separator') ?? '-'}${section.plain('logstash_dateformat') ?? '%Y.%m.%d'}`
    : (section.text('index_name') ?? 'fluentd');
  const index = target.templateOf(utcDate(plain, section, target), section.lineOf('index_name'));
  if (key === undefined) return index;
  const field = vrlPath(accessorPath(key));
  target.before.push(
    `._fluentd.index = if ${field} != null { to_string(${field}) ?? "" } else { ${target.expression(section.plain('index_name') ?? 'fluentd')} }`,
    `del(${field})`,
  );
  draft.difference(
    'Where the record names no index, index_name is used without its date.',
    section.lineOf('target_index_key'),
    'small',
  );
  return '{{ _fluentd.index }}';
}

/** With `logstash_format` the date of an index is that of UTC, unless `utc_index` is false. */
function utcDate(text: string, section: Section, target: Target): string {
  if (!section.bool('logstash_format', false) || !section.bool('utc_index', true)) return text;
  const dated = /%[A-Za-z][^$]*$/.exec(text);
  if (!dated) return text;
  target.before.push(
    `._fluentd.index_date = format_timestamp!(parse_timestamp!(${TIME}, format: "%+"), format: ${vrlString(dated[0])})`,
  );
  // In the form of a placeholder that stands in the configuration.
  return `${text.slice(0, dated.index)}$$\{$._fluentd.index_date}`;
}

/** `logstash_format` adds `@timestamp`. */
function timestamp(target: Target, draft: Draft): void {
  const { section } = target;
  const key = section.plain('time_key');
  const needed =
    section.bool('logstash_format', false) ||
    section.bool('include_timestamp', false) ||
    section.plugin.endsWith('data_stream');
  const tagKey = section.bool('include_tag_key', false) ? undefined : section.plain('tag_key');
  if (tagKey !== undefined) target.before.push(`${vrlPath([tagKey])} = ${TAG}`);
  if (!needed) return;
  if (key === undefined || key === '@timestamp') {
    target.before.push(`if .@timestamp == null { .@timestamp = ${TIME} }`);
    return;
  }
  target.before.push(
    `if ${vrlPath([key])} != null { .@timestamp = ${vrlPath([key])} } else if .@timestamp == null { .@timestamp = ${TIME} }`,
  );
  if (section.bool('time_key_exclude_timestamp', false)) target.before.pop();
  draft.info(`@timestamp is the value of ${key} as it is written in the record.`, section.lineOf('time_key'));
}

function removal(target: Target): void {
  for (const key of target.section.array('remove_keys') ?? [])
    target.before.push(`del(${vrlPath(accessorPath(key))})`);
  if (target.section.bool('flatten_hashes', false)) {
    const separator = target.section.plain('flatten_hashes_separator') ?? '.';
    target.before.push(
      'beside = del(._fluentd)',
      `. = flatten(., separator: ${vrlString(separator)})`,
      '._fluentd = beside',
    );
  }
}

function noteTemplates(section: Section, draft: Draft): void {
  const key = ['template_file', 'template_name', 'enable_ilm', 'rollover_index', 'ilm_policy'].find((name) =>
    section.has(name),
  );
  if (key) {
    draft.difference(
      'The engine installs no index template and no lifecycle policy: those that Fluentd has installed stay, later changes are yours.',
      section.lineOf(key),
      'small',
    );
  }
}
