/** Sources that read queues, programs, the journal and test data. */

import { readJson } from '../../params.ts';
import type { Section } from '../../section/section.ts';
import { escapeDollar, stringContent } from '../../text/vrl.ts';
import { awsAuth, kafkaSecurity } from '../credentials.ts';
import type { Draft } from '../draft.ts';
import { parserOf } from '../parsers/index.ts';
import { extractNote } from './network.ts';
import { addSource, parsedMessage, recordOfForward, staticTag } from './source-event.ts';

/** `kafka` and `kafka_group`. */
export function kafkaSourceRule(section: Section, draft: Draft): void {
  section.ignore(
    'max_bytes',
    'max_wait_time',
    'min_bytes',
    'offset_commit_threshold',
    'fetcher_max_queue_size',
  );
  section.ignore(
    'refresh_topic_interval',
    'use_record_time',
    'time_source',
    'kafka_message_key',
    'client_id',
  );
  section.ignore(
    'retry_emit_limit',
    'get_kafka_client_log',
    'connect_timeout',
    'socket_timeout',
    'time_format',
  );
  const format = section.plain('format') ?? section.child('parse')?.plugin ?? 'json';
  const code = parserOf(section, draft, { type: 'json', timeKey: null });
  if (!code) return;
  const topics = (section.array('topics') ?? []).map(escapeDollar);
  const inner = section.children('topic').flatMap((topic) => topic.array('topic') ?? []);
  if (topics.length + inner.length === 0) {
    draft.open('topics is missing.', section.line);
    return;
  }
  const group = section.text('consumer_group');
  if (group === undefined) {
    draft.action(
      'The engine reads as a consumer group: choose the group_id; positions of Fluentd are not taken over.',
      section.line,
    );
  }
  if (section.has('offset_zookeeper'))
    draft.difference('Positions in ZooKeeper have no counterpart.', section.lineOf('offset_zookeeper'));
  section.ignore('offset_zookeeper', 'offset_zk_root_node');
  const commit = section.time('offset_commit_interval');
  const session = section.time('session_timeout');
  const fromBeginning = section.bool('start_from_beginning', true);
  const config = {
    bootstrap_servers:
      section.text('brokers') ?? `${section.text('host') ?? 'localhost'}:${section.integer('port') ?? 9092}`,
    group_id: group ?? 'fluentd-migration',
    topics: [...topics, ...inner],
    auto_offset_reset: fromBeginning ? 'earliest' : 'latest',
    ...(commit === undefined ? {} : { commit_interval_ms: Math.round(commit * 1000) }),
    ...(session === undefined ? {} : { session_timeout_ms: Math.round(session * 1000) }),
    ...kafkaSecurity(section, draft),
  };
  const prefix = section.plain('add_prefix');
  const suffix = section.plain('add_suffix');
  draft.tags = config.topics.map((topic) => [
    [prefix, topic, suffix].filter((part) => part !== undefined && part !== '').join('.'),
  ]);
  if (format !== 'json') draft.info(`Messages are parsed as ${format}.`, section.line);
  addSource(draft, {
    ...{ type: 'kafka', config },
    lines: parsedMessage(code),
    tag: [
      ...(prefix ? [`"${stringContent(prefix)}."`] : []),
      'string!(.topic)',
      ...(suffix ? [`".${stringContent(suffix)}"`] : []),
    ].join(' + '),
  });
}

export function execRule(section: Section, draft: Draft): void {
  section.ignore('command_timeout', 'encoding');
  const code = parserOf(section, draft, { type: 'tsv', timeKey: null });
  if (!code) return;
  const command = section.text('command');
  const interval = section.time('run_interval');
  if (command === undefined) {
    draft.open('command is missing.', section.line);
    return;
  }
  extractNote(section, draft);
  addSource(draft, {
    type: 'exec',
    config: {
      command: ['/bin/sh', '-c', command],
      include_stderr: section.plain('connect_mode') === 'read_with_stderr',
      ...(interval === undefined
        ? { mode: 'streaming' }
        : { mode: 'scheduled', scheduled: { exec_interval_secs: Math.max(1, Math.round(interval)) } }),
    },
    lines: parsedMessage(code),
    tag: staticTag(section, draft),
  });
}

/** `systemd`, whose records have the fields of the journal as they are. */
export function systemdRule(section: Section, draft: Draft): void {
  section.ignore('pos_file', 'storage', 'read_from_head', 'strip_underscores', 'entry', 'filters', 'matches');
  section.ignoreChildren('storage');
  const path = section.text('path');
  const entry = section.child('entry');
  const strip = entry?.bool('fields_strip_underscores', false) || section.bool('strip_underscores', false);
  const lower = entry?.bool('fields_lowercase', false) ?? false;
  const filters = readJson(section.plain('matches', 'filters') ?? '[]');
  const matches: Record<string, string[]> = {};
  for (const filter of Array.isArray(filters) ? filters : []) {
    for (const [field, value] of Object.entries((filter ?? {}) as object)) {
      matches[field] = [...(matches[field] ?? []), ...(Array.isArray(value) ? value : [value]).map(String)];
    }
  }
  const several = Array.isArray(filters) && filters.length > 1 && Object.keys(matches).length > 1;
  if (several)
    draft.difference(
      'Filters of different fields must all match here; in Fluentd one is enough.',
      section.lineOf('matches'),
    );
  entry?.ignore('field_map', 'field_map_strict');
  if (entry?.has('field_map'))
    draft.difference(
      'field_map is not translated: fields have the names of the journal.',
      entry.line,
      'large',
    );
  const rename = [
    ...(strip ? [`key = replace(key, r'^_+', "")`] : []),
    ...(lower ? ['key = downcase(key)'] : []),
  ];
  addSource(draft, {
    type: 'journald',
    config: {
      since_now: !section.bool('read_from_head', false),
      current_boot_only: false,
      ...(path === undefined ? {} : { journal_directory: path }),
      ...(Object.keys(matches).length > 0 ? { include_matches: matches } : {}),
    },
    lines: [
      'record = .',
      'record.MESSAGE = del(record.message)',
      'record._HOSTNAME = del(record.host)',
      'event_time = timestamp(del(record.timestamp)) ?? now()',
      'del(record.source_type)',
      ...(rename.length > 0
        ? [
            'record = map_keys(record) -> |name| {',
            '  key = name',
            ...rename.map((line) => `  ${line}`),
            '  key',
            '}',
          ]
        : []),
    ],
    tag: staticTag(section, draft),
  });
}

/** `sample`, which was `dummy`. */
export function sampleRule(section: Section, draft: Draft): void {
  section.ignore('size', 'reuse_record');
  const data = readJson(section.plain('sample', 'dummy') ?? '{"message":"sample"}');
  const records = (Array.isArray(data) ? data : [data]).map((record) => JSON.stringify(record ?? {}));
  const rate = section.integer('rate') ?? 1;
  const counter = section.plain('auto_increment_key');
  if (counter !== undefined)
    draft.difference('auto_increment_key is not counted.', section.lineOf('auto_increment_key'), 'small');
  addSource(draft, {
    type: 'demo_logs',
    config: { format: 'shuffle', lines: records.map(escapeDollar), interval: 1 / Math.max(1, rate) },
    lines: ['text = string!(.message)', 'event_time = now()', 'record = object!(parse_json!(text))'],
    tag: staticTag(section, draft),
  });
}

export function s3SourceRule(section: Section, draft: Draft): void {
  section.ignore('add_object_metadata', 'match_regexp', 'store_as', 's3_region');
  const code = parserOf(section, draft, { type: 'none' });
  if (!code) return;
  const sqs = section.child('sqs');
  const queue = sqs?.text('queue_name');
  section.plain('s3_bucket');
  if (queue === undefined) {
    draft.open('<sqs> with queue_name is missing.', section.line);
    return;
  }
  const region = section.text('s3_region');
  sqs?.ignore('skip_delete', 'poll_interval_seconds', 'retry_error_interval');
  draft.action(`Write the whole URL of the queue ${queue} as sqs.queue_url.`, sqs?.line);
  addSource(draft, {
    type: 'aws_s3',
    config: {
      ...(region === undefined ? {} : { region }),
      strategy: 'sqs',
      sqs: { queue_url: `https://sqs.${region ?? 'us-east-1'}.amazonaws.com/000000000000/${queue}` },
      ...awsAuth(section, draft),
    },
    lines: parsedMessage(code),
    tag: staticTag(section, draft, 'input.s3'),
  });
}

/** What Fluentd reports about itself; the agent collects the same of the engine. */
export function selfRule(section: Section, draft: Draft): void {
  section.ignoreAll();
  draft.output = null;
  const message =
    'Fluentd reports about itself here. Headgate collects the metrics and the state of the engine by itself';
  if (section.plugin.startsWith('prometheus')) {
    draft.difference(`${message}; Prometheus has to scrape it from Headgate.`, section.line, 'small');
  } else draft.info(`${message}.`, section.line);
}

export function unixRule(section: Section, draft: Draft): void {
  section.ignore('backlog');
  const path = section.text('path') ?? '/var/run/fluent/fluent.sock';
  draft.tags = [[null]];
  const tag = section.has('tag') ? staticTag(section, draft) : 'string!(incoming_tag)';
  addSource(draft, {
    ...{ type: 'fluent', config: { mode: 'unix', path }, tag },
    // What the engine knows of the other end of a socket of Unix is its path, or this.
    lines: recordOfForward({ isSender: 'sender == "(unnamed)" || starts_with(sender, "/")', tag }),
  });
}
