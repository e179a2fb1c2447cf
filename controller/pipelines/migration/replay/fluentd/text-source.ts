/** Sources that read lines of text, and the event that each makes of one. docs.fluentd.org/input. */
import { parseJsonRecord } from '../../../../platform/text/json-record.ts';
import type { ConfigDirective } from '../../fluentd/config-tree.ts';
import { type FluentdEvent, NotInterpreted } from './event.ts';
import { createParser, numericTime, type Parser, parserType } from './parsers.ts';
import { sectionOf, textParam } from './read-params.ts';

/** Null where the source drops the line. */
export interface TextSource {
  /** Of its first event. */
  tag: string;
  read(line: string): FluentdEvent | null;
}

/** Those whose lines are texts, and those that bring records of their own, given here as JSON. */
const LINES: ReadonlySet<string> = new Set(['tail', 'tcp', 'udp', 'syslog', 'exec', 'unix']);
const RECORDS: ReadonlySet<string> = new Set(['forward', 'http']);

export const readsText = (plugin: string | null): boolean =>
  plugin !== null && (LINES.has(plugin) || RECORDS.has(plugin));

const FACILITIES = [
  'kern',
  'user',
  'mail',
  'daemon',
  'auth',
  'syslog',
  'lpr',
  'news',
  'uucp',
  'cron',
  'authpriv',
  'ftp',
];
const LOCAL = [
  'ntp',
  'audit',
  'alert',
  'at',
  'local0',
  'local1',
  'local2',
  'local3',
  'local4',
  'local5',
  'local6',
  'local7',
];
const SEVERITIES = ['emerg', 'alert', 'crit', 'err', 'warn', 'notice', 'info', 'debug'];

/** `given` is the tag for a source whose events bring theirs. Null where it is needed and not there. */
export function createTextSource(
  directive: ConfigDirective,
  plugin: string,
  given: string | null,
): TextSource | null {
  if (RECORDS.has(plugin)) {
    const tag = given ?? textParam(directive, 'tag');
    return tag === null ? null : { tag, read: (line) => recordEvent(plugin, tag, line) };
  }
  if (!LINES.has(plugin)) throw new NotInterpreted(`the source ${plugin}, which reads no text`);
  const written = sectionOf(directive, 'parse') ?? directive;
  const type = parserType(written) || (plugin === 'syslog' ? 'syslog' : 'none');
  const isSyslog = plugin === 'syslog' && type === 'syslog';
  const section = isSyslog ? withPriority(written) : written;
  const parse = createParser(section, type);
  const ownTag = textParam(directive, 'tag') ?? '';
  const tag = given ?? (plugin === 'tail' ? pathTag(ownTag, textParam(directive, 'path')) : ownTag);
  const pathKey = plugin === 'tail' ? textParam(directive, 'path_key') : null;
  if (pathKey !== null) throw new NotInterpreted('path_key: the path of the file is not known here');
  return {
    tag,
    read: (line) => {
      if (plugin !== 'syslog') return lineEvent(tag, line, parse);
      const text = isSyslog ? line : line.replace(/^<\d{1,3}>/, '');
      const event = lineEvent(given ?? syslogTag(tag, line), text, parse);
      delete event?.record.pri;
      return event;
    },
  };
}

/** The plugin asks its parser for the priority, and makes a part of the tag of it. */
function withPriority(section: ConfigDirective): ConfigDirective {
  const [quoting, embeddedRuby] = ['none' as const, []];
  const param = { key: 'with_priority', value: 'true', line: section.line, quoting, embeddedRuby };
  return { ...section, params: [...section.params.filter(({ key }) => key !== param.key), param] };
}

function lineEvent(tag: string | null, line: string, parse: Parser): FluentdEvent | null {
  const parsed = tag === null ? null : parse(line);
  return parsed && tag !== null ? { tag, record: parsed.record, time: parsed.time?.at ?? null } : null;
}

/** The parser of requests takes the time out of a record. */
function recordEvent(plugin: string, tag: string, line: string): FluentdEvent {
  const record = parseJsonRecord(line);
  if (!record) throw new NotInterpreted('this source brings records: give each line as a JSON object');
  if (plugin !== 'http' || record.time === undefined) return { tag, record, time: null };
  const { time, ...rest } = record;
  return { tag, record: rest, time: numericTime(time, 'float') };
}

/** `*` of the tag is the path of the file with dots. */
function pathTag(tag: string, paths: string | null): string {
  if (!tag.includes('*')) return tag;
  const [path = ''] = (paths ?? '').split(',');
  if (path === '' || /[*?{%[]/.test(path))
    throw new NotInterpreted(
      'the tag holds the path of a file that a pattern finds; name the tag of the samples',
    );
  return tag.replace('*', path.trim().replace(/^\//, '').replaceAll('/', '.'));
}

/** The facility and the severity are parts of the tag. Null where the line has neither. */
function syslogTag(tag: string, line: string): string | null {
  const pri = Number(/^<(\d{1,3})>/.exec(line)?.[1] ?? Number.NaN);
  const facility = [...FACILITIES, ...LOCAL][pri >> 3];
  return Number.isNaN(pri) || facility === undefined ? null : `${tag}.${facility}.${SEVERITIES[pri & 7]}`;
}
