/** Outputs to queues and streams: kafka, cloudwatch, kinesis. */

import type { Section } from '../../section/section.ts';
import { accessorPath, vrlPath, vrlString } from '../../text/vrl.ts';
import { awsAuth, kafkaSecurity } from '../credentials.ts';
import type { Draft } from '../draft.ts';
import { bufferOptions } from './buffer.ts';
import { encodingOf, JSON_ENCODING, setTimestamp } from './encoding.ts';
import { ifSet, Target, unconfined } from './target.ts';

/** `kafka2`, `rdkafka2`, and `kafka_buffered` before them. */
export function kafkaRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'get_kafka_client_log',
    'client_id',
    'use_event_time',
    'exclude_topic_key',
    'exclude_partition_key',
  );
  section.ignore(
    'exclude_partition',
    'exclude_message_key',
    'exclude_headers',
    'ack_timeout',
    'max_send_retries',
    'default_partition_key',
  );
  section.ignore(
    'max_send_limit_bytes',
    'discard_kafka_delivery_failed',
    'active_support_notification_regex',
    'monitoring_list',
  );
  section.ignore(
    'partition_key_key',
    'partition_key',
    'rdkafka_delivery_handle_poll_timeout',
    'use_default_for_unknown_topic',
  );
  section.ignore(
    'kafka_agg_max_bytes',
    'kafka_agg_max_messages',
    'zookeeper',
    'zookeeper_path',
    'use_default_for_unknown_partition_error',
  );
  const target = new Target(section, draft, prefix);
  const key = section.plain('topic_key') ?? 'topic';
  const fallback = section.text('default_topic', 'topic');
  const written = section.has('topic') ? section.text('topic') : undefined;
  let topic: string;
  if (written !== undefined) topic = target.templateOf(written, section.lineOf('topic'));
  else if (fallback !== undefined && !section.has('topic_key'))
    topic = target.templateOf(fallback, section.lineOf('default_topic'));
  else {
    target.before.push(
      `._fluentd.topic = to_string(${vrlPath([key])} || ${vrlString(section.plain('default_topic') ?? 'fluentd')}) ?? ""`,
    );
    if (section.bool('exclude_topic_key', false)) target.before.push(`del(${vrlPath([key])})`);
    topic = '{{ _fluentd.topic }}';
  }
  const messageKey = section.plain('message_key_key', 'default_message_key');
  if (section.has('zookeeper'))
    draft.action(
      'Write the brokers as bootstrap_servers: ZooKeeper is not asked for them.',
      section.lineOf('zookeeper'),
    );
  const acks = section.plain('required_acks');
  const compression = section.plain('compression_codec');
  const encoding = encodingOf(target, 'json');
  target.write('kafka', {
    bootstrap_servers: section.text('brokers') ?? 'localhost:9092',
    topic,
    encoding,
    ...ifSet('key_field', messageKey === undefined ? undefined : vrlPath(accessorPath(messageKey))),
    ...(compression === undefined ? {} : { compression }),
    ...(acks === undefined ? {} : { librdkafka_options: { 'request.required.acks': acks } }),
    ...kafkaSecurity(section, draft),
    ...unconfined(topic),
    ...bufferOptions(target, { batch: true, request: false, maxBatchBytes: 1_000_000 }),
  });
  if (section.has('partition_key_key') || section.has('partition_key')) {
    draft.difference(
      'The partition follows the key of the message, not partition_key.',
      section.lineOf('partition_key_key'),
    );
  }
}

export function cloudwatchRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'auto_create_stream',
    'max_message_length',
    'max_events_per_batch',
    'json_handler',
    'log_rejected_request',
    'put_log_events_retry_wait',
  );
  section.ignore(
    'put_log_events_retry_limit',
    'put_log_events_disable_retry_limit',
    'remove_log_group_name_key',
    'remove_log_stream_name_key',
  );
  section.ignore(
    'use_tag_as_group',
    'use_tag_as_stream',
    'concurrency',
    'retention_in_days',
    'remove_log_group_aws_tags_key',
    'localtime',
    'policy',
  );
  const target = new Target(section, draft, prefix);
  const name = (kind: 'group' | 'stream'): string => {
    if (section.bool(`use_tag_as_${kind}`, false)) return '{{ _fluentd.tag }}';
    const key = section.plain(`log_${kind}_name_key`);
    return key === undefined
      ? (target.template(`log_${kind}_name`) ?? 'fluentd')
      : `{{ ${vrlPath(accessorPath(key)).slice(1)} }}`;
  };
  const group = name('group');
  const stream = name('stream');
  const keys = section.array('message_keys');
  const days = section.integer('retention_in_days');
  setTimestamp(target);
  if (keys && keys.length > 0) {
    target.before.push(
      `.message = ${keys.map((key) => `(to_string(${vrlPath([key])}) ?? "")`).join(' + " " + ')}`,
    );
  }
  target.write('aws_cloudwatch_logs', {
    group_name: group,
    stream_name: stream,
    ...ifSet('region', section.text('region')),
    ...ifSet('endpoint', section.text('endpoint')),
    create_missing_group: section.bool('auto_create_stream', false),
    create_missing_stream: section.bool('auto_create_stream', false),
    ...(days === undefined ? {} : { retention: { enabled: true, days } }),
    encoding: keys && keys.length > 0 ? { codec: 'text' } : JSON_ENCODING,
    ...awsAuth(section, draft),
    ...unconfined(group, stream),
    ...bufferOptions(target, { batch: true, request: true, maxBatchBytes: 1_048_576 }),
  });
}

export function kinesisRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(
    'debug',
    'retries_on_batch_request',
    'reset_backoff_if_success',
    'batch_request_max_count',
    'batch_request_max_size',
    'chomp_record',
  );
  section.ignore(
    'append_new_line',
    'data_key',
    'compression',
    'log_truncate_max_size',
    'reduce_max_size_error_message',
    'drop_failed_records_after_batch_request_retries',
    'monitor_num_of_batch_request_retries',
  );
  const target = new Target(section, draft, prefix);
  const isFirehose = section.plugin === 'kinesis_firehose';
  const stream = section.text(isFirehose ? 'delivery_stream_name' : 'stream_name');
  const data = section.plain('data_key');
  const key = section.plain('partition_key');
  if (stream === undefined) {
    draft.open(`${isFirehose ? 'delivery_stream_name' : 'stream_name'} is missing.`, section.line);
    return;
  }
  if (data !== undefined)
    target.before.push(`.message = to_string(${vrlPath([data])}) ?? encode_json(${vrlPath([data])})`);
  if (section.plugin.endsWith('aggregated'))
    draft.difference('Records are not aggregated as the Kinesis Producer Library does.', section.line);
  target.write(isFirehose ? 'aws_kinesis_firehose' : 'aws_kinesis_streams', {
    stream_name: stream,
    ...ifSet('region', section.text('region')),
    ...ifSet('endpoint', section.text('endpoint')),
    ...(key === undefined || isFirehose ? {} : { partition_key_field: vrlPath(accessorPath(key)).slice(1) }),
    encoding: data === undefined ? encodingOf(target, 'json') : { codec: 'text' },
    ...awsAuth(section, draft),
    ...bufferOptions(target, { batch: true, request: true, maxBatchBytes: 4 * 1024 * 1024 }),
  });
}
