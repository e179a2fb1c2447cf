/** Sources that listen: forward, http, syslog, tcp and udp. */
import type { Section } from '../../section/section.ts';
import type { Draft } from '../draft.ts';
import { parserOf } from '../parsers/index.ts';
import { indent, rawTime } from '../parsers/parser-code.ts';
import { syslogParser } from '../parsers/syslog-parser.ts';
import { numericTime } from '../parsers/time-code.ts';
import {
  addSource,
  copyField,
  listenAddress,
  parsedMessage,
  recordOfEvent,
  recordOfForward,
  staticTag,
  transportTls,
} from './source-event.ts';

export function forwardRule(section: Section, draft: Draft): void {
  section.ignore('backlog', 'linger_timeout', 'blocking_timeout', 'resolve_hostname', 'deny_keepalive');
  section.ignore('send_keepalive_packet', 'chunk_size_warn_limit', 'chunk_size_limit', 'skip_invalid_event');
  section.ignore('decompression_size_limit', 'heartbeat_type', 'heartbeat_interval', 'phi_threshold');
  const security = section.child('security');
  if (security) {
    security.ignoreAll();
    draft.difference(
      'The engine cannot ask senders for a shared key or a password: take <security> out of them, and limit who reaches the port (permit_origin, TLS with client certificates).',
      security.line,
      'large',
    );
  }
  const tag = section.param('tag');
  const prefix = section.param('add_tag_prefix');
  const config = {
    address: listenAddress(section, 24224),
    ...transportTls(section, draft),
  };
  draft.tags = [[null]];
  let expression = 'string!(incoming_tag)';
  if (tag) expression = staticTag(section, draft);
  else if (prefix) {
    expression = `"${section.vrlContentOf(prefix)}." + string!(incoming_tag)`;
    if (prefix.embeddedRuby.length === 0) draft.tags = [[`${prefix.value}.`, null]];
  }
  draft.info(
    'The engine puts the tag into the field tag and the address of the sender into host: a field tag of a record takes the place of its tag, and a field host that is an IP address is lost.',
  );
  addSource(draft, {
    ...{ type: 'fluent', config, tag: expression },
    lines: recordOfForward({
      isSender: 'is_ipv4(sender) || is_ipv6(sender)',
      senderField: section.plain('source_address_key') ?? section.plain('source_hostname_key'),
      tag: expression,
    }),
  });
}

export function httpRule(section: Section, draft: Draft): void {
  section.ignore('body_size_limit', 'keepalive_timeout', 'backlog', 'blocking_timeout', 'dump_error_log');
  section.ignore('decompression_size_limit', 'respond_with_empty_img', 'cors_allow_credentials');
  const parse = section.child('parse');
  const parser = parse?.plugin || parse?.plain('format') || section.plain('format') || 'in_http';
  const isJson = ['in_http', 'default', 'json'].includes(parser);
  const code = isJson ? null : parserOf(section, draft, {});
  if (draft.isOpen) return;
  const timeKey = isJson ? (parse?.plain('time_key') ?? 'time') : null;
  if (isJson)
    parse?.ignore('keep_time_key', 'time_type', 'time_format', 'estimate_current_event', 'localtime', 'utc');
  const prefix = section.param('add_tag_prefix');
  const withHeaders = section.bool('add_http_headers', false);
  if (withHeaders)
    draft.difference(
      'add_http_headers needs the names of the headers: give them in headers.',
      section.lineOf('add_http_headers'),
    );
  if (section.has('cors_allow_origins'))
    draft.difference(
      'Browsers are not answered for other origins (CORS).',
      section.lineOf('cors_allow_origins'),
    );
  if (section.bool('add_query_params', false))
    draft.difference(
      'add_query_params needs the names of the parameters: give them in query_parameters.',
      section.lineOf('add_query_params'),
    );
  const config = {
    address: listenAddress(section, 9880),
    ...{ path: '/', strict_path: false, method: 'POST' },
    // Names that no field of a record has.
    ...{ path_key: '_request_path', host_key: '_remote_address' },
    ...(section.bool('use_204_response', false) ? { response_code: 204 } : {}),
    ...(isJson ? { decoding: { codec: 'json' } } : { framing: { method: 'newline_delimited' } }),
    ...transportTls(section, draft),
  };
  const addRemote = section.bool('add_remote_addr', false);
  draft.tags = [[null]];
  if (prefix && prefix.embeddedRuby.length === 0) draft.tags = [[`${prefix.value}.`, null]];
  draft.difference(
    'Bodies are JSON: forms (json=…, msgpack=…) and the time in the query are not read.',
    section.line,
    'small',
  );
  addSource(draft, {
    ...{ type: 'http_server', config },
    lines: [
      'request_path = string!(del(._request_path))',
      `${addRemote ? 'remote = ' : ''}del(._remote_address)`,
      ...(code
        ? parsedMessage(code)
        : [...recordOfEvent('http_server'), ...(timeKey === null ? [] : timeInRecord(timeKey))]),
      ...(addRemote ? ['record.REMOTE_ADDR = remote'] : []),
    ],
    tag: `${prefix ? `"${section.vrlContentOf(prefix)}." + ` : ''}replace(replace(request_path, r'^/+', ""), "/", ".")`,
  });
}

/** A number, as the parser of bodies takes it. */
function timeInRecord(key: string): string[] {
  const { lines, code } = numericTime('float');
  return [
    ...rawTime(key, false),
    'if raw_time != null {',
    ...indent(lines),
    `  event_time = ${code} ?? event_time`,
    '}',
  ];
}

/** The engine's own syslog source names fields otherwise, so that the text is parsed here as Fluentd does. */
export function syslogRule(section: Section, draft: Draft): void {
  section.ignore(
    'blocking_timeout',
    'send_keepalive_packet',
    'resolve_hostname',
    'delimiter',
    'message_length_limit',
  );
  const protocol = section.child('transport')?.directive.argument || section.plain('protocol_type') || 'udp';
  const parse = section.child('parse');
  const format = parse?.plugin || section.plain('format') || 'syslog';
  const isSyslog = format === 'syslog';
  const parsed = isSyslog ? null : parserOf(section, draft, {});
  if (draft.isOpen) return;
  const code = parsed ?? syslogParser(parse ?? section, draft, true);
  const limit = section.size('message_length_limit');
  const config = {
    mode: protocol === 'udp' ? 'udp' : 'tcp',
    address: listenAddress(section, 5140),
    ...(limit === undefined || protocol !== 'udp' ? {} : { max_length: limit }),
    ...(section.plain('frame_type') === 'octet_count' ? { framing: { method: 'octet_counting' } } : {}),
    ...transportTls(section, draft),
  };
  const source = section.plain('source_address_key') ?? section.plain('source_hostname_key');
  const host = section.bool('include_source_host', false)
    ? (section.plain('source_host_key') ?? 'source_host')
    : source;
  const tag = section.param('tag');
  if (!tag) {
    draft.open('tag is missing.', section.line);
    return;
  }
  draft.tags = tag.embeddedRuby.length === 0 ? [[`${tag.value}.`, null]] : [[null]];
  const outerPriority = isSyslog
    ? ['priority = to_int(del(record.pri)) ?? 13']
    : [
        `with_priority = parse_regex(text, r'^<(?P<pri>[0-9]{1,3})>(?P<rest>(?s:.*))$$') ?? {}`,
        'priority = to_int(with_priority.pri) ?? 13',
        'text = string(with_priority.rest) ?? text',
      ];
  const body = isSyslog
    ? [...parsedMessage(code, section.bool('emit_unmatched_lines', false)), ...outerPriority]
    : ['text = string!(.message)', ...outerPriority, ...code.lines, 'if failure != null { abort }'];
  addSource(draft, {
    ...{ type: 'socket', config },
    lines: [
      ...body,
      'facility = to_syslog_facility(to_int(floor(priority / 8))) ?? "user"',
      'severity = to_syslog_level(mod(priority, 8)) ?? "notice"',
      'if severity == "warning" { severity = "warn" }',
      ...copyField(section.plain('facility_key'), 'facility'),
      ...copyField(section.plain('severity_key') ?? section.plain('priority_key'), 'severity'),
      ...copyField(host, '.host'),
    ],
    tag: `"${section.vrlContentOf(tag)}." + facility + "." + severity`,
  });
}

export const tcpRule = (section: Section, draft: Draft): void => socketRule(section, draft, 'tcp', 5170);
export const udpRule = (section: Section, draft: Draft): void => socketRule(section, draft, 'udp', 5160);

function socketRule(section: Section, draft: Draft, mode: 'tcp' | 'udp', port: number): void {
  section.ignore('blocking_timeout', 'send_keepalive_packet', 'remove_newline', 'receive_buffer_size');
  const code = parserOf(section, draft, {});
  if (!code) return;
  const security = section.child('security');
  if (security) {
    security.ignoreAll();
    draft.difference('Clients are not limited by <security>; give permit_origin.', security.line);
  }
  const delimiter = section.plain('delimiter');
  const limit = section.size('message_length_limit') ?? section.size('body_size_limit');
  const config = {
    ...{ mode, address: listenAddress(section, port) },
    ...(delimiter === undefined || delimiter === '\n' || mode === 'udp'
      ? {}
      : {
          framing: {
            method: 'character_delimited',
            character_delimited: { delimiter: delimiter.slice(0, 1) },
          },
        }),
    ...(limit !== undefined && mode === 'udp' ? { max_length: limit } : {}),
    ...(mode === 'tcp' ? transportTls(section, draft) : {}),
  };
  if (delimiter !== undefined && delimiter.length > 1) {
    draft.difference('The delimiter is one character here: its first.', section.lineOf('delimiter'));
  }
  section.ignoreChildren(...(mode === 'udp' ? ['transport'] : []));
  extractNote(section, draft);
  const source =
    section.plain('source_hostname_key') ??
    section.plain('source_address_key') ??
    section.plain('source_host_key');
  addSource(draft, {
    ...{ type: 'socket', config },
    lines: [...parsedMessage(code), ...copyField(source, '.host')],
    tag: staticTag(section, draft),
  });
}

/** `<extract>` takes the tag or the time out of a record. */
export function extractNote(section: Section, draft: Draft): void {
  const extract = section.child('extract');
  if (!extract) return;
  extract.ignoreAll();
  draft.difference(
    '<extract> is not translated: the tag and time of records do not come from their fields.',
    extract.line,
    'large',
  );
}
