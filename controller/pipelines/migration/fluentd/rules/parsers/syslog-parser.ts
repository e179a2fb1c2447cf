/** The parser of syslog messages in both of their forms, RFC 3164 and RFC 5424. */
import type { Section } from '../../section/section.ts';
import { vrlRegexp } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';
import { conversionLines, indent, type ParserCode, rawTime } from './parser-code.ts';
import { formattedTime, type TimeCode, zoneOf } from './time-code.ts';

const RFC3164 =
  '(?P<time>[^ ]*\\s*[^ ]* [^ ]*) (?P<host>[^ ]*) (?P<ident>[^ :\\[]*)(?:\\[(?P<pid>[0-9]+)\\])?(?:[^:]*:)? *(?P<message>.*)$';
const RFC5424 =
  '(?P<time>[^ ]+) (?P<host>[!-~]{1,255}) (?P<ident>[!-~]{1,48}) (?P<pid>[!-~]{1,128}) (?P<msgid>[!-~]{1,32}) (?P<extradata>-|(?:\\[(?:[^\\]\\\\]|\\\\.)*\\])+)(?: (?P<message>.+))?\\z';

export function syslogParser(section: Section, draft: Draft, withPriorityDefault = false): ParserCode {
  section.ignore('parser_type', 'parser_engine', 'support_colonless_ident', 'time_key');
  const format = section.plain('message_format') ?? 'rfc3164';
  const withPriority = section.bool('with_priority', withPriorityDefault);
  const oldTime = timeOf(section, draft, section.plain('time_format') ?? '%b %d %H:%M:%S');
  const newTime = timeOf(
    section,
    draft,
    section.plain('rfc5424_time_format') ??
      (format === 'rfc5424' ? section.plain('time_format') : undefined) ??
      '%Y-%m-%dT%H:%M:%S.%L%z',
  );
  const keep = section.bool('keep_time_key', false);
  const oldForm = [
    `record, failure = parse_regex(text, ${vrlRegexp(`(?s)^${withPriority ? '<(?P<pri>[0-9]+)>' : ''}${RFC3164}`)})`,
    'if failure == null {',
    ...indent(afterwards(oldTime, keep)),
    '}',
  ];
  const newForm = [
    `record, failure = parse_regex(text, ${vrlRegexp(`(?s)^${withPriority ? '<(?P<pri>[0-9]{1,3})>[1-9][0-9]{0,2} ' : ''}${RFC5424}`)})`,
    'if failure == null {',
    ...indent(afterwards(newTime, keep)),
    '}',
  ];
  const priority = withPriority ? ['if failure == null { record.pri = to_int(record.pri) ?? 0 }'] : [];
  const conversions = conversionLines(section, draft);
  const lines =
    format === 'rfc3164'
      ? oldForm
      : format === 'rfc5424'
        ? newForm
        : [
            'record = {}',
            'failure = null',
            `if match(text, r'^<[0-9]{1,3}>[1-9][0-9]{0,2} ') {`,
            ...indent(newForm),
            '} else {',
            ...indent(oldForm),
            '}',
          ];
  return {
    firstLine: null,
    lines: [
      'event_time = now()',
      ...lines,
      ...priority,
      ...(conversions.length > 0 ? ['if failure == null {', ...indent(conversions), '}'] : []),
    ],
  };
}

const afterwards = (time: TimeCode, keep: boolean): string[] => [
  'record = compact(record, recursive: false, null: true, string: false, object: false, array: false)',
  ...rawTime('time', keep),
  ...time.lines,
  `parsed_time, failure = ${time.code}`,
  'if failure == null { event_time = parsed_time }',
];

function timeOf(section: Section, draft: Draft, written: string): TimeCode {
  const line = section.lineOf('time_format');
  const time = formattedTime(written, zoneOf(section), draft, line);
  if (time) return time;
  draft.difference(
    `The time format ${written} has no counterpart; a time in RFC 3339 is expected.`,
    section.line,
  );
  return { lines: [], code: 'parse_timestamp(to_string(raw_time) ?? "", format: "%+")' };
}
