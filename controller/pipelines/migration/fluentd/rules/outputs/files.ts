/** Outputs that write files and objects: file, stdout, s3, gcs, azure. */

import { HOST_VARIABLE, TIME_VALUE } from '../../event-form.ts';
import type { Section } from '../../section/section.ts';
import { awsAuth } from '../credentials.ts';
import type { Draft } from '../draft.ts';
import { bufferOptions } from './buffer.ts';
import { encodingOf } from './encoding.ts';
import { ifSet, Target, unconfined } from './target.ts';

export function fileRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore('append', 'symlink_path', 'recompress', 'buffer_path', 'time_slice_format', 'path_suffix');
  const target = new Target(section, draft, prefix);
  const written = section.text('path');
  if (written === undefined) {
    draft.open('path is missing.', section.line);
    return;
  }
  const gzip = ['gzip', 'gz'].includes(section.plain('compress') ?? '');
  const suffix = section.plain('path_suffix') ?? '.log';
  const hasTime = /%[YmdHMSjFT]/.test(written);
  const slice = section.plain('time_slice_format');
  // Fluentd puts the time slice where * is, or behind the path.
  const dated = hasTime
    ? written
    : written.includes('*')
      ? written.replace('*', () => slice ?? dayFormat(section))
      : `${written}.${slice ?? dayFormat(section)}`;
  const path = target.templateOf(`${dated}${suffix}${gzip ? '.gz' : ''}`, section.lineOf('path'));
  const encoding = encodingOf(target, 'out_file');
  const base = path.slice(0, path.search(/\{\{|$/)).replace(/\/[^/]*$/, '');
  target.write('file', {
    path,
    ...(base.length > 1 && path.includes('{{') ? { base_dir: base } : {}),
    encoding,
    ...(gzip ? { compression: 'gzip' } : {}),
    ...unconfined(path),
    ...bufferOptions(target, { batch: false, request: false }),
  });
  draft.difference(
    'Events are appended to files at once; Fluentd writes a file when a chunk is full or its time is over.',
    section.line,
    'small',
  );
}

/** A chunk is a day unless `timekey` says otherwise. */
function dayFormat(section: Section): string {
  const seconds = section.child('buffer')?.time('timekey') ?? 86_400;
  if (seconds >= 86_400) return '%Y%m%d';
  return seconds >= 3600 ? '%Y%m%d%H' : '%Y%m%d%H%M';
}

export function stdoutRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore('use_logger', 'output_type', 'deliver_events_mode');
  const target = new Target(section, draft, prefix);
  const format = section.child('format');
  const isDefault = !format && !section.has('format');
  format?.ignore('output_type');
  section.ignoreChildren('buffer');
  let encoding: Record<string, unknown> = { codec: 'text' };
  if (isDefault || format?.plugin === 'stdout') {
    target.before.push(
      'record = .',
      'del(record._fluentd)',
      `.message = format_timestamp!(${TIME_VALUE}, format: "%Y-%m-%d %H:%M:%S%.9f %z") + " " + string!(._fluentd.tag) + ": " + encode_json(record)`,
    );
  } else encoding = encodingOf(target, 'json');
  target.write('console', { target: 'stdout', encoding });
}

export function nullRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignoreAll();
  draft.add({ name: prefix, kind: 'SINK', type: 'blackhole', config: {} });
}

const S3_IGNORED = [
  ...[
    'check_bucket',
    'check_object',
    'check_apikey_on_start',
    'auto_create_bucket',
    'warn_for_delay',
    'signature_version',
  ],
  ...[
    'proxy_uri',
    'ssl_verify_peer',
    'index_format',
    'hex_random_length',
    'overwrite',
    'reduced_redundancy',
    'use_server_side_encryption',
  ],
  ...[
    'time_slice_format',
    'buffer_path',
    'enable_transfer_acceleration',
    'compute_checksums',
    'use_bundled_cert',
    'tagging',
  ],
  ...[
    's3_object_key_format',
    'acl',
    'storage_class',
    'path',
    'enable_dual_stack',
    's3_metadata',
    'checksum_algorithm',
  ],
];

export function s3Rule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(...S3_IGNORED);
  const target = new Target(section, draft, prefix);
  const bucket = section.text('s3_bucket');
  if (bucket === undefined) {
    draft.open('s3_bucket is missing.', section.line);
    return;
  }
  const { keyPrefix, extension, compression } = objectNames(target, 's3_object_key_format');
  const encoding = encodingOf(target, 'out_file');
  const encryption = section.plain('use_server_side_encryption');
  const endpoint = section.text('s3_endpoint');
  target.write('aws_s3', {
    bucket,
    ...ifSet('region', section.text('s3_region') ?? (endpoint === undefined ? undefined : 'us-east-1')),
    ...ifSet('endpoint', endpoint),
    ...(section.has('force_path_style') ? { force_path_style: section.bool('force_path_style', false) } : {}),
    key_prefix: keyPrefix,
    ...ifSet('filename_extension', extension),
    compression,
    ...ifSet('acl', section.plain('acl')),
    ...ifSet('storage_class', section.plain('storage_class')),
    ...ifSet('server_side_encryption', encryption),
    ...ifSet('ssekms_key_id', section.text('ssekms_key_id')),
    ...awsAuth(section, draft),
    encoding,
    ...unconfined(keyPrefix),
    ...bufferOptions(target, { batch: true, request: true, maxBatchBytes: 256 * 1024 * 1024 }),
  });
  draft.difference(
    'Objects are named by the time at which they are written and a random id, not by time slice and index.',
    section.lineOf('s3_object_key_format'),
    'small',
  );
}

/** The part of an object's name before what makes it unique. */
function objectNames(target: Target, formatKey: string) {
  const { section } = target;
  const path = section.text('path') ?? '';
  const format = section.text(formatKey) ?? '%{path}%{time_slice}_%{index}.%{file_extension}';
  const slice = section.plain('time_slice_format') ?? dayFormat(section);
  const store = section.plain('store_as') ?? 'gzip';
  const lead = format
    .replace('%{path}', () => path)
    .replace(/%\{time_slice\}.*$/s, () => `${slice}_`)
    .replace(/%\{(?:index|uuid_flush|uuid_hash|hex_random|file_extension|hms|chunk_id)[^}]*\}.*$/s, '')
    .replaceAll('%{hostname}', () => HOST_VARIABLE)
    .replace(/[._-]+$/, '_');
  const keyPrefix = target.templateOf(lead, section.lineOf('path'));
  const extensions: Readonly<Record<string, string>> = {
    gzip: 'gz',
    gzip_command: 'gz',
    json: 'json',
    text: 'txt',
    zstd: 'zst',
  };
  const compression = store.startsWith('gzip') ? 'gzip' : store === 'zstd' ? 'zstd' : 'none';
  if (!Object.hasOwn(extensions, store))
    target.draft.difference(
      `store_as ${store} has no counterpart; objects are not compressed.`,
      section.lineOf('store_as'),
    );
  return { keyPrefix, compression, extension: extensions[store] };
}

export function gcsRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'project',
    'auto_create_bucket',
    'check_bucket',
    'blind_write',
    'overwrite',
    'hex_random_length',
    'transcoding',
  );
  section.ignore('object_key_format', 'path', 'storage_class', 'acl', 'encryption_key', 'client_retries');
  const target = new Target(section, draft, prefix);
  const bucket = section.text('bucket');
  if (bucket === undefined) {
    draft.open('bucket is missing.', section.line);
    return;
  }
  const { keyPrefix, extension, compression } = objectNames(target, 'object_key_format');
  const encoding = encodingOf(target, 'out_file');
  target.write('gcp_cloud_storage', {
    ...{ bucket, key_prefix: keyPrefix, compression, encoding },
    ...ifSet('filename_extension', extension),
    ...ifSet('credentials_path', section.text('keyfile')),
    ...ifSet('storage_class', section.plain('storage_class')?.toUpperCase()),
    ...unconfined(keyPrefix),
    ...bufferOptions(target, { batch: true, request: true, maxBatchBytes: 256 * 1024 * 1024 }),
  });
  draft.difference(
    'Objects are named by the time at which they are written and a random id.',
    section.line,
    'small',
  );
}

export function azureBlobRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'azure_storage_account',
    'auto_create_container',
    'azure_object_key_format',
    'time_slice_format',
    'path',
  );
  const target = new Target(section, draft, prefix);
  const key = section.secret(
    'azure_storage_access_key',
    'azure_storage_sas_token',
    'azure_storage_connection_string',
  );
  if (key)
    draft.action('The secret has to hold the whole connection string of the storage account.', section.line);
  const { keyPrefix, compression } = objectNames(target, 'azure_object_key_format');
  target.write('azure_blob', {
    connection_string: key ?? section.secretFor('azure-storage', section.line),
    container_name: section.text('azure_container') ?? 'logs',
    ...{ blob_prefix: keyPrefix, compression, encoding: encodingOf(target, 'out_file') },
    ...bufferOptions(target, { batch: true, request: true }),
  });
}
