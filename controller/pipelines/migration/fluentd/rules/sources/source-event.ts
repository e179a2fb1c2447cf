/** The two components of most sources: one that reads, and one that makes the record, tag and time of Fluentd of it. */

import type { ConfigParam } from '../../config-tree.ts';
import { finishEvent } from '../../event-form.ts';
import { readEmbedded } from '../../section/environment.ts';
import type { Section } from '../../section/section.ts';
import { stringContent, vrlPath, vrlString } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';
import type { ParserCode } from '../parsers/index.ts';

/** The piece that makes records. */
export const RECORDS = 'records';

export interface SourceEvent {
  type: string;
  config: Record<string, unknown>;
  /** Sets `record` and `event_time`; the event of the engine is still there. */
  lines: readonly string[];
  /** An expression in VRL. */
  tag: string;
}

export function addSource(draft: Draft, { type, config, lines, tag }: SourceEvent): void {
  draft.add({ name: '', kind: 'SOURCE', type, config });
  draft.remap(RECORDS, [...lines, ...finishEvent(tag, 'event_time')], ['']);
  draft.output = RECORDS;
}

/**
 * Makes `record` of an event that the engine has read as a record, with `event_time`. The engine adds a time and its own name
 * only where the record has no such fields: what is not of its making is the record's own.
 */
export const recordOfEvent = (type: string): string[] => [
  'record = .',
  'event_time = if is_timestamp(record.timestamp) { timestamp!(del(record.timestamp)) } else { now() }',
  `if record.source_type == ${vrlString(type)} { del(record.source_type) }`,
];

export interface ForwardEvent {
  /** A condition on the variable `sender`: whether `host` is the engine's, and not a field of the record. */
  isSender: string;
  /** Gets the sender, and is empty where the record has a `host` of its own, which then stays. */
  senderField?: string | undefined;
  /** An expression, which may name `incoming_tag`. */
  tag: string;
}

/** The same for the protocol of Fluentd. A variable that nothing reads would be warned of. */
export const recordOfForward = ({ isSender, senderField, tag }: ForwardEvent): string[] => [
  ...recordOfEvent('fluent'),
  tag.includes('incoming_tag') ? 'incoming_tag = del(record.tag)' : 'del(record.tag)',
  'sender = string(record.host) ?? ""',
  `if ${isSender} { del(record.host) }${senderField ? ' else { sender = "" }' : ''}`,
  ...copyField(senderField, 'sender'),
];

/** Parses `.message`. What does not fit is dropped, as in Fluentd, or goes on as `unmatched_line` where that is wanted. */
export function parsedMessage(code: ParserCode, unmatched = false): string[] {
  return [
    'text = string!(.message)',
    ...code.lines,
    unmatched ? 'if failure != null { record = {"unmatched_line": text} }' : 'if failure != null { abort }',
  ];
}

/** A tag decides where events go, so that a variable of the environment with a default is that default. */
export function tagParam(section: Section): ConfigParam | undefined {
  const param = section.param('tag');
  const [code, ...more] = param?.embeddedRuby ?? [];
  if (!param || code === undefined || more.length > 0) return param;
  const embedded = readEmbedded(code);
  if (param.value.trim() !== `#{${code}}` || (embedded.kind !== 'env' && embedded.kind !== 'text'))
    return param;
  const value = section.plain('tag');
  return value === undefined ? param : { ...param, value, embeddedRuby: [] };
}

/** The tag of a source whose events all have one. */
export function staticTag(section: Section, draft: Draft, fallback?: string): string {
  const param = tagParam(section);
  if (!param && fallback === undefined) {
    draft.open('tag is missing.', section.line);
    return '""';
  }
  if (!param) {
    draft.tags = [[fallback ?? '']];
    return `"${stringContent(fallback ?? '')}"`;
  }
  draft.tags = param.embeddedRuby.length === 0 ? [[param.value]] : [[null]];
  return `"${section.vrlContentOf(param)}"`;
}

/** Sets fields of the record from fields of the engine's event. */
export const copyField = (name: string | undefined, from: string): string[] =>
  name === undefined || name === '' ? [] : [`${vrlPath([name], 'record')} = ${from}`];

/** `bind` and `port`. Null if the port is not known. */
export function listenAddress(section: Section, port: number): string {
  const bind = section.text('bind') ?? '0.0.0.0';
  const host = bind === '::' ? '[::]' : bind;
  return `${host}:${section.integer('port') ?? port}`;
}

/** `<transport tls>`, and the parameters that stood for it before. */
export function transportTls(section: Section, draft: Draft): Record<string, unknown> {
  const transport = section.child('transport');
  if (!transport) return {};
  const protocol = transport.directive.argument;
  if (protocol !== 'tls') {
    transport.ignore('linger_timeout', 'receive_buffer_size', 'send_keepalive_packet');
    return {};
  }
  transport.ignore(
    'version',
    'ciphers',
    'insecure',
    'min_version',
    'max_version',
    'cert_verifier',
    'ensure_fips',
  );
  const certificate = transport.text('cert_path');
  const key = transport.text('private_key_path');
  const password = transport.secret('private_key_passphrase');
  const authority = transport.text('ca_path', 'ca_cert_path', 'client_cert_auth_ca');
  const verify = transport.bool('client_cert_auth', false);
  draft.action(
    'Copy the certificate and key files to the nodes, or upload them as certificates and name them by SVC_CERT_DIR.',
    transport.line,
  );
  if (!certificate) {
    draft.difference(
      'Certificates that Fluentd generates have no counterpart; give crt_file and key_file.',
      transport.line,
      'large',
    );
  }
  return {
    tls: {
      enabled: true,
      ...(certificate ? { crt_file: certificate } : {}),
      ...(key ? { key_file: key } : {}),
      ...(password ? { key_pass: password } : {}),
      ...(authority ? { ca_file: authority } : {}),
      ...(verify ? { verify_certificate: true } : {}),
    },
  };
}
