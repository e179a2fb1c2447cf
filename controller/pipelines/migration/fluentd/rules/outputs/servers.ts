/** Outputs to servers of other protocols, to tables and queues: syslog, GELF, InfluxDB, Redis and others. */
import type { Section } from '../../section/section.ts';
import { vrlPath, vrlString } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';
import { bufferOptions } from './buffer.ts';
import { encodingOf, JSON_ENCODING, RECORD_ONLY, setTimestamp } from './encoding.ts';
import { ifSet, Target, unconfined } from './target.ts';

const HTTP = { batch: true, request: true };

export function remoteSyslogRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'hostname',
    'severity',
    'facility',
    'program',
    'packet_size',
    'timeout',
    'timeout_exception',
    'keep_alive',
    'keep_alive_idle',
    'keep_alive_cnt',
    'keep_alive_intvl',
  );
  section.ignore(
    'protocol',
    'tls',
    'ca_file',
    'verify_mode',
    'rfc',
    'allow_self_signed_cert',
    'tls_version',
    'append_newline',
    'transport',
    'tag',
  );
  const target = new Target(section, draft, prefix);
  const facility =
    { kern: 0, user: 1, mail: 2, daemon: 3, auth: 4, syslog: 5, local0: 16 }[
      section.plain('facility') ?? 'user'
    ] ?? 1;
  const severity =
    { emerg: 0, alert: 1, crit: 2, err: 3, error: 3, warn: 4, warning: 4, notice: 5, info: 6, debug: 7 }[
      section.plain('severity') ?? 'notice'
    ] ?? 5;
  const program = section.plain('program') ?? section.plain('tag') ?? 'fluentd';
  const encoding = encodingOf(target, 'json');
  const isMade = target.before.some((line) => line.startsWith('.message ='));
  const text = isMade ? '.message' : '(to_string(.message) ?? "")';
  const body = encoding.codec === 'text' ? text : 'encode_json(record)';
  target.before.push(
    'record = .',
    'del(record._fluentd)',
    `.message = "<${facility * 8 + severity}>" + format_timestamp!(parse_timestamp!(._fluentd.time, format: "%+"), format: "%b %e %H:%M:%S") + " " + get_hostname!() + " " + ${vrlString(program)} + ": " + ${body}`,
  );
  const mode = section.plain('protocol') ?? 'udp';
  target.write('socket', {
    address: `${section.text('host') ?? 'localhost'}:${section.text('port') ?? '514'}`,
    mode: mode === 'tcp' ? 'tcp' : 'udp',
    encoding: { codec: 'text' },
    ...(section.bool('tls', false)
      ? { tls: { enabled: true, ...ifSet('ca_file', section.text('ca_file')) } }
      : {}),
    ...bufferOptions(target, { batch: false, request: false }),
  });
}

export function gelfRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'use_record_host',
    'add_msec_time',
    'protocol',
    'tls',
    'tls_options',
    'max_bytes',
    'udp_transport_type',
  );
  const target = new Target(section, draft, prefix);
  setTimestamp(target);
  target.before.push(
    'if .host == null { .host = get_hostname!() }',
    'if .short_message == null { .short_message = to_string(.message || .log) ?? encode_json(.message) }',
    '.version = "1.1"',
    'del(._fluentd)',
  );
  const mode = section.plain('protocol') ?? 'udp';
  target.write('socket', {
    address: `${section.text('host') ?? 'localhost'}:${section.text('port') ?? '12201'}`,
    mode: mode === 'tcp' ? 'tcp' : 'udp',
    encoding: { codec: 'gelf' },
    ...(mode === 'tcp'
      ? { framing: { method: 'character_delimited', character_delimited: { delimiter: '\0' } } }
      : {}),
    ...bufferOptions(target, { batch: false, request: false }),
  });
  draft.difference('Names of fields that GELF does not allow make an event fail.', section.line, 'small');
}

export function logAnalyticsRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'endpoint',
    'time_generated_field',
    'azure_resource_id',
    'localtime',
    'add_time_field',
    'time_field_name',
    'time_format',
    'add_tag_field',
    'tag_field_name',
  );
  const target = new Target(section, draft, prefix);
  setTimestamp(target);
  target.write('azure_monitor_logs', {
    customer_id: section.text('customer_id') ?? section.secretFor('azure-customer-id', section.line),
    shared_key: section.secret('shared_key') ?? section.secretFor('azure-shared-key', section.line),
    log_type: section.text('log_type') ?? 'Fluentd',
    encoding: RECORD_ONLY,
    ...bufferOptions(target, HTTP),
  });
  draft.difference(
    'The service behind this sink ends; the engine from 0.58 on has azure_logs_ingestion.',
    section.line,
    'small',
  );
}

export function influxRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'retry',
    'use_ssl',
    'verify_ssl',
    'time_precision',
    'auto_tags',
    'sequence_tag',
    'cast_number_to_float',
    'port',
    'retention_policy_key',
    'default_retention_policy',
    'tag_keys',
    'precision',
    'url',
    'time_key',
  );
  const target = new Target(section, draft, prefix);
  const isV2 = section.plugin === 'influxdb2';
  const tags = section.array('tag_keys') ?? [];
  const host =
    section.text('url') ??
    `${section.bool('use_ssl', false) ? 'https' : 'http'}://${section.text('host') ?? 'localhost'}:${section.text('port') ?? '8086'}`;
  const user = section.text('user', 'username');
  const password = section.secret('password');
  setTimestamp(target);
  target.write('influxdb_logs', {
    endpoint: host,
    measurement: section.text('measurement') ?? 'fluentd',
    tags: tags.map((tag) => vrlPath([tag]).slice(1)),
    ...(isV2
      ? {
          org: section.text('org') ?? '',
          bucket: section.text('bucket') ?? '',
          token: section.secret('token') ?? section.secretFor('influxdb-token', section.line),
        }
      : {
          database: section.text('dbname') ?? 'fluentd',
          ...ifSet('username', user),
          ...ifSet('password', password),
        }),
    encoding: RECORD_ONLY,
    ...bufferOptions(target, HTTP),
  });
  if (!section.has('measurement'))
    draft.difference('The measurement is "fluentd"; Fluentd takes the tag.', section.line);
}

export function sqsRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'create_queue',
    'delay_seconds',
    'include_tag',
    'tag_property_name',
    'message_group_id',
    'queue_name',
    'aws_key_id',
    'aws_sec_key',
  );
  const target = new Target(section, draft, prefix);
  const url = section.text('sqs_url');
  if (url === undefined) {
    draft.open('sqs_url is missing.', section.line);
    return;
  }
  target.write('aws_sqs', {
    ...{ queue_url: url, encoding: encodingOf(target, 'json') },
    ...ifSet('region', section.text('region')),
    ...bufferOptions(target, HTTP),
  });
}

export function redisRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'db_number',
    'insert_key_prefix',
    'strftime_format',
    'allow_duplicate_key',
    'ttl',
    'port',
    'host',
    'password',
    'key',
  );
  const target = new Target(section, draft, prefix);
  const key = target.template('insert_key_prefix', 'key') ?? '{{ _fluentd.tag }}';
  target.write('redis', {
    endpoint: `redis://${section.text('host') ?? 'localhost'}:${section.text('port') ?? '6379'}/${section.text('db_number') ?? '0'}`,
    ...{ key, data_type: 'list', encoding: JSON_ENCODING },
    ...unconfined(key),
    ...bufferOptions(target, HTTP),
  });
  draft.difference(
    'Records are pushed to a list as JSON; Fluentd writes a hash for each.',
    section.line,
    'large',
  );
}

/** Counts events; the engine counts them by itself. */
export function countingRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignoreAll();
  draft.add({ name: prefix, kind: 'SINK', type: 'blackhole', config: {} });
  draft.difference(
    'Events are counted by the engine: the metrics of this sink stand for those of the plugin.',
    section.line,
    'small',
  );
}
