/** Outputs to services: Datadog, New Relic, Google, Sumo Logic and others that take JSON. */
import type { Section } from '../../section/section.ts';
import type { Draft } from '../draft.ts';
import { bufferOptions } from './buffer.ts';
import { encodingOf, JSON_ENCODING, RECORD_ONLY, setTimestamp } from './encoding.ts';
import { ifSet, Target, unconfined } from './target.ts';

const HTTP = { batch: true, request: true };

export function datadogRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'use_json',
    'use_ssl',
    'use_http',
    'use_compression',
    'compression_level',
    'no_ssl_validation',
    'ssl_port',
    'max_retries',
    'max_backoff',
  );
  section.ignore(
    'http_proxy',
    'force_v1_routes',
    'port',
    'timestamp_key',
    'delete_extracted_tag_attributes',
    'include_tag_key',
    'tag_key',
  );
  const target = new Target(section, draft, prefix);
  const key = section.secret('api_key');
  const host = section.plain('host');
  const fields: [string, string | undefined][] = [
    ['ddsource', section.plain('dd_source')],
    ['service', section.plain('service')],
    ['ddtags', section.plain('dd_tags')],
    ['hostname', section.plain('dd_hostname')],
    ['ddsourcecategory', section.plain('dd_sourcecategory')],
  ];
  setTimestamp(target);
  for (const [name, value] of fields)
    if (value !== undefined) target.before.push(`.${name} = ${target.expression(value)}`);
  target.write('datadog_logs', {
    default_api_key: key ?? section.secretFor('datadog-api-key', section.line),
    ...ifSet('site', host?.replace(/^.*intake(?:-http)?\.(?:logs\.)?|^.*logs\.|^http-intake\.logs\./, '')),
    encoding: RECORD_ONLY,
    ...bufferOptions(target, HTTP),
  });
}

export function newRelicRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore('base_uri', 'ca_bundle_file', 'http_proxy');
  const target = new Target(section, draft, prefix);
  const key = section.secret('license_key', 'api_key');
  const uri = section.plain('base_uri') ?? '';
  setTimestamp(target);
  draft.action('Write the number of your account as account_id.', section.line);
  target.write('new_relic', {
    ...{
      account_id: section.secretFor('new-relic-account', section.line),
      api: 'logs',
      license_key: key ?? section.secretFor('new-relic-license-key', section.line),
    },
    region: uri.includes('.eu') ? 'eu' : 'us',
    encoding: RECORD_ONLY,
    ...bufferOptions(target, HTTP),
  });
}

/** `google_cloud`: Cloud Logging. */
export function googleCloudRule(section: Section, draft: Draft, prefix = ''): void {
  const { directive } = section;
  section.ignore(
    ...directive.params
      .map(({ key }) => key)
      .filter((key) => !['project_id', 'private_key_path'].includes(key)),
  );
  section.ignoreChildren('labels', 'label_map', 'labels_extra');
  const target = new Target(section, draft, prefix);
  setTimestamp(target);
  target.write('gcp_stackdriver_logs', {
    project_id: section.text('project_id') ?? section.secretFor('google-project', section.line),
    log_id: '{{ _fluentd.tag }}',
    resource: { type: section.plain('k8s_cluster_name') === undefined ? 'global' : 'k8s_container' },
    severity_key: 'severity',
    encoding: RECORD_ONLY,
    ...unconfined('{{ _fluentd.tag }}'),
    ...bufferOptions(target, HTTP),
  });
  if (!section.has('project_id'))
    draft.action('Write the project as project_id; Fluentd asks the machine for it.', section.line);
  draft.difference(
    'The monitored resource and its labels are those of resource; Fluentd finds them by itself.',
    section.line,
  );
}

export function pubsubRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'autocreate_topic',
    'max_messages',
    'max_total_size',
    'max_message_size',
    'attribute_keys',
    'compress_batches',
    'key',
  );
  const target = new Target(section, draft, prefix);
  target.write('gcp_pubsub', {
    project: section.text('project') ?? section.secretFor('google-project', section.line),
    topic: section.text('topic') ?? 'logs',
    ...ifSet('credentials_path', section.text('key')),
    encoding: encodingOf(target, 'json'),
    ...bufferOptions(target, HTTP),
  });
}

/** Services that take JSON by HTTP at an address that holds the token. */
export function postingRule(section: Section, draft: Draft, prefix = ''): void {
  const target = new Target(section, draft, prefix);
  const uri = section.secret('endpoint', 'endpoint_url', 'url', 'webhook_url');
  section.ignore(
    'output_include_time',
    'output_include_tags',
    'http_idle_timeout',
    'bulk_limit',
    'output_tags_fieldname',
    'verify_ssl',
    'log_format',
    'log_key',
  );
  section.ignore(
    'source_category',
    'source_name',
    'source_host',
    'open_timeout',
    'delimiter',
    'add_timestamp',
    'timestamp_key',
    'data_type',
    'metric_data_format',
    'disable_cookies',
    'compress',
    'compress_encoding',
    'custom_fields',
    'sumo_client',
  );
  const headers = Object.fromEntries(
    [
      ['X-Sumo-Category', section.text('source_category')],
      ['X-Sumo-Name', section.text('source_name')],
      ['X-Sumo-Host', section.text('source_host')],
    ].filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const options = bufferOptions(target, HTTP);
  draft.difference('Records are sent as one line of JSON each.', section.line, 'small');
  target.write('http', {
    uri: uri ?? section.secretFor('http-endpoint', section.line),
    ...{ encoding: JSON_ENCODING, framing: { method: 'newline_delimited' } },
    ...options,
    ...(Object.keys(headers).length > 0
      ? { request: { ...(options.request as object | undefined), headers } }
      : {}),
  });
}
