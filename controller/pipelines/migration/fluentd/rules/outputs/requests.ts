/** Outputs that send requests: loki, http, splunk. */
import { readHash } from '../../params.ts';
import type { Section } from '../../section/section.ts';
import { accessorPath, vrlPath } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';
import { bufferOptions } from './buffer.ts';
import { encodingOf, JSON_ENCODING, setTimestamp } from './encoding.ts';
import { ifSet, Target, unconfined } from './target.ts';

export function lokiRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'line_format',
    'extract_kubernetes_labels',
    'remove_keys',
    'drop_single_key',
    'insecure_tls',
    'include_thread_label',
  );
  section.ignore('custom_headers', 'compress');
  const target = new Target(section, draft, prefix);
  const labels: Record<string, string> = {};
  for (const [name, value] of Object.entries(readHash(section.text('extra_labels') ?? '{}'))) {
    labels[name] = target.templateOf(String(value), section.lineOf('extra_labels'));
  }
  const picked: string[] = [];
  for (const part of section.children('label')) {
    for (const param of part.directive.params) {
      part.ignore(param.key);
      const path = param.value === '' ? [param.key] : accessorPath(param.value);
      const name = param.key.replace(/[^A-Za-z0-9_]/g, '_');
      labels[name] = `{{ ${vrlPath(path).slice(1)} }}`;
      picked.push(vrlPath(path));
    }
  }
  if (section.bool('extract_kubernetes_labels', false)) {
    labels['*'] = '{{ kubernetes.labels }}';
    draft.difference(
      'Labels of Kubernetes become labels of Loki as they are named.',
      section.lineOf('extract_kubernetes_labels'),
      'small',
    );
  }
  // Every stream of Loki has a label.
  if (Object.keys(labels).length === 0) labels.fluentd_tag = '{{ _fluentd.tag }}';
  setTimestamp(target);
  for (const path of picked) {
    const name = path.replace(/[^A-Za-z0-9]/g, '_');
    target.before.push(`._fluentd.label${name} = to_string(${path}) ?? ""`, `del(${path})`);
    for (const [label, template] of Object.entries(labels)) {
      if (template === `{{ ${path.slice(1)} }}`) labels[label] = `{{ _fluentd.label${name} }}`;
    }
  }
  for (const key of section.array('remove_keys') ?? [])
    target.before.push(`del(${vrlPath(accessorPath(key))})`);
  const isJson = section.plain('line_format') === 'json';
  const single = section.bool('drop_single_key', false);
  if (single) {
    target.before.push(
      'line = remove!(., ["_fluentd"])',
      'line = remove!(line, ["timestamp"])',
      'if length(line) == 1 { .message = to_string(values(line)[0]) ?? encode_json(line) } else { .message = encode_json(line) }',
    );
  }
  const user = section.text('username');
  const password = section.secret('password');
  const bearer = section.has('bearer_token_file');
  section.ignore('bearer_token_file', 'ca_cert', 'cert', 'key');
  if (bearer)
    draft.difference(
      'The token of bearer_token_file has to be a secret: give auth.token.',
      section.lineOf('bearer_token_file'),
      'large',
    );
  const tenant = section.text('tenant');
  if (!isJson && !single)
    draft.difference('Lines are JSON; by default Fluentd writes key="value".', section.lineOf('line_format'));
  target.write('loki', {
    endpoint: section.text('url') ?? 'https://logs-prod-us-central1.grafana.net',
    labels,
    ...ifSet('tenant_id', tenant),
    ...(user === undefined || password === undefined ? {} : { auth: { strategy: 'basic', user, password } }),
    ...tlsFiles(section),
    encoding: single ? { codec: 'text' } : JSON_ENCODING,
    ...unconfined(...Object.values(labels)),
    ...bufferOptions(target, { batch: true, request: true, maxBatchBytes: 4 * 1024 * 1024 }),
  });
}

function tlsFiles(section: Section): Record<string, unknown> {
  const tls = {
    ...ifSet('ca_file', section.text('ca_cert', 'tls_ca_cert_path')),
    ...ifSet('crt_file', section.text('cert', 'tls_client_cert_path')),
    ...ifSet('key_file', section.text('key', 'tls_private_key_path')),
    ...ifSet('key_pass', section.secret('tls_private_key_passphrase')),
    ...(section.bool('insecure_tls', false) || section.plain('tls_verify_mode') === 'none'
      ? { verify_certificate: false, verify_hostname: false }
      : {}),
  };
  return Object.keys(tls).length > 0 ? { tls } : {};
}

/** `http` of Fluentd itself, and the plugin `out_http` of others before it. */
export function httpOutputRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'open_timeout',
    'read_timeout',
    'ssl_timeout',
    'tls_version',
    'tls_ciphers',
    'error_response_as_unrecoverable',
  );
  section.ignore(
    'retryable_response_codes',
    'reuse_connections',
    'proxy',
    'rate_limit_msec',
    'raise_on_error',
    'serializer',
  );
  section.ignore(
    'content_type',
    'compress',
    'allowed_hosts',
    'cacert_file',
    'ssl_no_verify',
    'authentication',
    'bulk_request',
  );
  const target = new Target(section, draft, prefix);
  const uri = target.template('endpoint', 'endpoint_url');
  if (uri === undefined) {
    draft.open('endpoint is missing.', section.line);
    return;
  }
  const method = section.plain('http_method') ?? 'post';
  const isArray = section.bool('json_array', false) || section.bool('bulk_request', false);
  const headers = headersOf(section);
  const content = section.plain('content_type') ?? (isArray ? 'application/json' : 'application/x-ndjson');
  const auth = section.child('auth');
  const user = (auth ?? section).text('username');
  const password = (auth ?? section).secret('password');
  const token = section.secret('token');
  auth?.ignore('method');
  if (auth?.plain('method') === 'aws_sigv4') {
    draft.difference(
      'Requests are signed for AWS with auth.strategy aws: check service and region.',
      auth.line,
    );
    auth.ignore('aws_service', 'aws_region', 'aws_role_arn');
  }
  const encoding = encodingOf(target, 'json');
  const options = bufferOptions(target, { batch: true, request: true });
  target.write('http', {
    ...{ uri, method, encoding },
    framing: { method: isArray && encoding.codec === 'json' ? 'bytes' : 'newline_delimited' },
    ...(section.plain('compress') === 'gzip' ? { compression: 'gzip' } : {}),
    ...(user !== undefined && password !== undefined ? { auth: { strategy: 'basic', user, password } } : {}),
    ...(token === undefined ? {} : { auth: { strategy: 'bearer', token } }),
    ...tlsFiles(section),
    ...options,
    request: { ...(options.request as object | undefined), headers: { 'Content-Type': content, ...headers } },
  });
  if (section.has('headers_from_placeholders'))
    draft.difference('Headers are the same for all events.', section.lineOf('headers_from_placeholders'));
}

/** Headers that are credentials become secrets. */
function headersOf(section: Section): Record<string, string> {
  const param = section.param('headers', 'custom_headers');
  if (!param) return {};
  const headers = Object.entries(readHash(section.textOf(param)));
  return Object.fromEntries(
    headers.map(([name, value]) => {
      const text = String(value);
      const isSecret = /auth|token|key|secret|cookie/i.test(name) && !text.includes('SVC_SECRET_');
      return [name, isSecret ? section.secretFor(name, param.line) : text];
    }),
  );
}

export function splunkRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignoreChildren('format');
  section.ignore(
    'insecure_ssl',
    'ssl_verify',
    'protocol',
    'data_type',
    'coerce_to_utf8',
    'non_utf8_replacement_string',
    'app_name',
    'app_version',
  );
  section.ignore(
    'consume_chunk_on_4xx_errors',
    'metrics_from_event',
    'custom_headers',
    'idle_timeout',
    'read_timeout',
    'open_timeout',
  );
  section.ignore(
    'use_ssl',
    'require_ssl',
    'gzip_compression',
    'keep_keys',
    'ca_path',
    'ssl_ciphers',
    'time_as_integer',
    'server',
  );
  const target = new Target(section, draft, prefix);
  const host =
    section.text('hec_host', 'host') ?? section.text('server')?.replace(/:\d+$/, '') ?? 'localhost';
  const port =
    section.text('hec_port', 'port') ?? /:(\d+)$/.exec(section.plain('server') ?? '')?.[1] ?? '8088';
  const protocol = section.plain('protocol') ?? (section.plugin === 'splunk_hec' ? 'https' : 'http');
  const endpoint = section.text('full_url') ?? `${protocol}://${host}:${port}`;
  const token = section.secret('hec_token', 'token');
  setTimestamp(target);
  const keyed = (name: string): string | undefined => {
    const plain = target.template(name);
    const key = section.plain(`${name}_key`);
    return key === undefined ? plain : `{{ ${vrlPath(accessorPath(key)).slice(1)} }}`;
  };
  const hostValue = section.plain('host_key') ?? undefined;
  const fields = section.children('fields').flatMap((part) =>
    part.directive.params.map(({ key, value }) => {
      part.ignore(key);
      return value === '' ? key : vrlPath(accessorPath(value)).slice(1);
    }),
  );
  const verify = !section.bool('insecure_ssl', false) && section.bool('ssl_verify', true);
  const index = keyed('index');
  const source = keyed('source');
  const type = keyed('sourcetype');
  target.write('splunk_hec_logs', {
    endpoint,
    default_token: token ?? section.secretFor('splunk-token', section.line),
    ...{ ...ifSet('index', index), ...ifSet('source', source), ...ifSet('sourcetype', type) },
    ...ifSet('host_key', hostValue === undefined ? undefined : vrlPath(accessorPath(hostValue)).slice(1)),
    ...(fields.length > 0 ? { indexed_fields: fields } : {}),
    encoding: { ...JSON_ENCODING, except_fields: ['_fluentd', 'timestamp'] },
    ...(section.bool('gzip_compression', false) ? { compression: 'gzip' } : {}),
    ...tlsVerify(section, verify),
    ...unconfined(index, source, type),
    ...bufferOptions(target, { batch: true, request: true }),
  });
}

function tlsVerify(section: Section, verify: boolean): Record<string, unknown> {
  const tls = {
    ...ifSet('ca_file', section.text('ca_file')),
    ...ifSet('crt_file', section.text('client_cert')),
    ...ifSet('key_file', section.text('client_key')),
    ...(verify ? {} : { verify_certificate: false, verify_hostname: false }),
  };
  return Object.keys(tls).length > 0 ? { tls } : {};
}
