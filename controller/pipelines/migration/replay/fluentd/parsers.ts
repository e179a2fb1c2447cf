/** The parsers of `<parse>` sections: what becomes of a text. docs.fluentd.org/parser. */
import { parseJsonRecord } from '../../../../platform/text/json-record.ts';
import type { ConfigDirective } from '../../fluentd/config-tree.ts';
import { NotInterpreted } from './event.ts';
import { boolParam, listParam, textParam, typeOf } from './read-params.ts';
import { toRegExp } from './ruby-regexp.ts';
import { offsetOf, readTime } from './strptime.ts';
import { convertTypes } from './value-types.ts';

export interface Parsed {
  record: Record<string, unknown>;
  /** Null: the text has none, so that the time of the event stays. `at` is null where it depends on the machine. */
  time: { at: number | null } | null;
}
/** Null where the text does not match. */
export type Parser = (text: string) => Parsed | null;

/** What a parser reads, before times and types. */
type Fields = (text: string) => Record<string, unknown> | null;
/** The format of the times of a text, where a parser has several. */
type FormatOf = (section: ConfigDirective) => (text: string) => string;

interface Kind {
  fields(section: ConfigDirective): Fields;
  timeKey: string | null;
  timeFormat: string | FormatOf | null;
  /** Without a format: a text, or seconds. */
  timeType: 'string' | 'float';
}

const NGINX =
  /^(?<remote>[^ ]*) (?<host>[^ ]*) (?<user>[^ ]*) \[(?<time>[^\]]*)\] "(?<method>\S+)(?: +(?<path>[^"]*?)(?: +\S*)?)?" (?<code>[^ ]*) (?<size>[^ ]*)(?: "(?<referer>[^"]*)" "(?<agent>[^"]*)"(?:\s+"?(?<http_x_forwarded_for>[^"]*)"?)?)?$/;
const APACHE =
  /^(?<host>[^ ]*) [^ ]* (?<user>[^ ]*) \[(?<time>[^\]]*)\] "(?<method>\S+)(?: +(?<path>(?:[^"]|\\.)*?)(?: +\S*)?)?" (?<code>[^ ]*) (?<size>[^ ]*)(?: "(?<referer>(?:[^"]|\\.)*)" "(?<agent>(?:[^"]|\\.)*)")?$/;
const RFC3164 =
  /^(?<time>[^ ]* {1,2}[^ ]* [^ ]*) (?<host>[^ ]*) (?<ident>[^ :[]*)(?:\[(?<pid>[0-9]+)\])?(?:[^:]*:)? *(?<message>.*)$/;
const RFC5424 =
  /^(?<time>[^ ]+) (?<host>[!-~]{1,255}) (?<ident>[!-~]{1,48}) (?<pid>[!-~]{1,128}) (?<msgid>[!-~]{1,32}) (?<extradata>-|(?:\[.*?(?<!\\)\])+)(?: (?<message>.+))?$/s;
const ACCESS_TIME = '%d/%b/%Y:%H:%M:%S %z';

/** Groups that took part. */
function captures(regexp: RegExp, text: string): Record<string, unknown> | null {
  const groups = regexp.exec(text)?.groups;
  return groups
    ? Object.fromEntries(Object.entries(groups).filter(([, value]) => value !== undefined))
    : null;
}

function apache(text: string): Record<string, unknown> | null {
  const groups = APACHE.exec(text)?.groups;
  if (!groups) return null;
  const plain = (name: string) => (groups[name] === undefined || groups[name] === '-' ? null : groups[name]);
  const code = Number.parseInt(groups.code ?? '', 10) || null;
  const size = plain('size') === null ? null : Number.parseInt(groups.size ?? '', 10) || 0;
  return {
    ...{ host: plain('host'), user: plain('user'), method: groups.method ?? null, path: groups.path ?? null },
    ...{ code, size, referer: plain('referer'), agent: plain('agent'), time: groups.time },
  };
}

function regexpFields(section: ConfigDirective): Fields {
  const expression = textParam(section, 'expression') ?? textParam(section, 'format');
  if (expression === null) throw new NotInterpreted('a parser regexp without its expression');
  const regexp = toRegExp(expression);
  return (text) => captures(regexp, text);
}

function separated(section: ConfigDirective, standard: string): Fields {
  const keys = listParam(section, 'keys');
  const delimiter = (textParam(section, 'delimiter') ?? standard).replaceAll('\\t', '\t');
  return (text) => {
    if (standard === ',' && (text.includes('"') || text === '')) throw new NotInterpreted('quotes in CSV');
    // Columns that are missing are null; of tabs, the last column has the rest.
    const values = text.split(delimiter);
    if (standard === '\t' && values.length > keys.length)
      values.splice(keys.length - 1, values.length, values.slice(keys.length - 1).join(delimiter));
    return Object.fromEntries(keys.map((key, at) => [key, values[at] ?? null]));
  };
}

function labelled(section: ConfigDirective): Fields {
  const delimiter = (textParam(section, 'delimiter') ?? '\t').replaceAll('\\t', '\t');
  const label = textParam(section, 'label_delimiter') ?? ':';
  return (text) =>
    Object.fromEntries(
      fieldsIn(text, delimiter).map((pair) => {
        const at = pair.indexOf(label);
        return at < 0 ? [pair, null] : [pair.slice(0, at), pair.slice(at + label.length)];
      }),
    );
}

const fieldsIn = (text: string, delimiter: string): string[] =>
  text.split(delimiter).filter((pair) => pair !== '');

/** Whether a message is of RFC 5424. */
function isNewSyslog(section: ConfigDirective): (text: string) => boolean {
  const format = textParam(section, 'message_format') ?? 'rfc3164';
  return (text) => format === 'rfc5424' || (format === 'auto' && /^<\d{1,3}>[1-9]\d{0,2} /.test(text));
}

const syslogTime: FormatOf = (section) => {
  const isNew = isNewSyslog(section);
  const isOnlyNew = textParam(section, 'message_format') === 'rfc5424';
  const given = textParam(section, 'time_format');
  const newFormat =
    textParam(section, 'rfc5424_time_format') ?? (isOnlyNew ? given : null) ?? '%Y-%m-%dT%H:%M:%S.%L%z';
  return (text) => (isNew(text) ? newFormat : (given ?? '%b %d %H:%M:%S'));
};

function syslog(section: ConfigDirective): Fields {
  const isNew = isNewSyslog(section);
  const withPriority = boolParam(section, 'with_priority', false);
  return (text) => {
    const isOfRfc5424 = isNew(text);
    const regexp = isOfRfc5424 ? RFC5424 : RFC3164;
    if (!withPriority) return captures(regexp, text);
    const before = (isOfRfc5424 ? /^<(\d{1,3})>[1-9]\d{0,2} / : /^<(\d{1,3})>/).exec(text);
    const fields = before && captures(regexp, text.slice(before[0].length));
    return fields && { ...fields, pri: Number(before[1]) };
  };
}

const none = (section: ConfigDirective): Fields => {
  const key = textParam(section, 'message_key') ?? 'message';
  return (text) => ({ [key]: text });
};

const plainTime = { timeKey: null, timeFormat: null, timeType: 'float' } as const;
const KINDS: Readonly<Record<string, Kind>> = {
  json: { fields: () => parseJsonRecord, timeKey: 'time', timeFormat: null, timeType: 'float' },
  regexp: { fields: regexpFields, timeKey: 'time', timeFormat: null, timeType: 'string' },
  nginx: {
    fields: () => (text) => captures(NGINX, text),
    timeKey: 'time',
    timeFormat: ACCESS_TIME,
    timeType: 'string',
  },
  apache2: { fields: () => apache, timeKey: 'time', timeFormat: ACCESS_TIME, timeType: 'string' },
  ltsv: { fields: labelled, ...plainTime },
  csv: { fields: (section) => separated(section, ','), ...plainTime },
  tsv: { fields: (section) => separated(section, '\t'), ...plainTime },
  syslog: { fields: syslog, timeKey: 'time', timeFormat: syslogTime, timeType: 'string' },
  none: { fields: none, ...plainTime },
};

/** `section` is `<parse>`, or the plugin itself in the older form with `format`. */
export function createParser(section: ConfigDirective, type: string): Parser {
  const name = type.startsWith('/') ? 'regexp' : type;
  const kind = KINDS[name];
  if (!kind || !Object.hasOwn(KINDS, name)) throw new NotInterpreted(`the parser ${name || '(none)'}`);
  const fields = kind.fields(section);
  const takeTime = timeReader(section, kind);
  const convert = convertTypes(section);
  return (text) => {
    const read = fields(text);
    if (!read) return null;
    const record = convert(read);
    return { record, time: takeTime(record, text) };
  };
}

/** Where there is no `<parse>`, the type of the section is that of the plugin itself. */
export const parserType = (section: ConfigDirective): string =>
  (section.name === 'parse' ? typeOf(section) : '') || (textParam(section, 'format') ?? '');

/** Takes the time out of a record, unless it is to stay there. */
function timeReader(
  section: ConfigDirective,
  kind: Kind,
): (record: Record<string, unknown>, text: string) => Parsed['time'] {
  const key = textParam(section, 'time_key') ?? kind.timeKey;
  const own = kind.timeFormat;
  const formatOf = typeof own === 'function' ? own(section) : () => textParam(section, 'time_format') ?? own;
  const type = textParam(section, 'time_type') ?? (formatOf('') === null ? kind.timeType : 'string');
  const keep = boolParam(section, 'keep_time_key', false);
  const zone = textParam(section, 'timezone');
  const isUtc = boolParam(section, 'utc', false) || boolParam(section, 'localtime', true) === false;
  const offset = zone === null ? (isUtc ? 0 : null) : offsetOf(zone);
  return (record, whole) => {
    if (key === null || record[key] === undefined) return null;
    const value = record[key];
    if (value === null) throw new NotInterpreted('a time that is null');
    if (!keep) delete record[key];
    if (type === 'float' || type === 'unixtime') return { at: numericTime(value, type) };
    if (type !== 'string') throw new NotInterpreted(`time_type ${type}`);
    const text = String(value);
    const format = formatOf(whole);
    const time = format === null ? guessTime(text) : readTime(text, format, offset);
    if (time) return time;
    const why = format === null ? 'without a time_format' : `which is not of the format ${format}`;
    throw new NotInterpreted(`the time "${text.slice(0, 60)}", ${why}`);
  };
}

/** The digits at the beginning, as Ruby's to_i and its like: a text without any is 0. Milliseconds. */
export function numericTime(value: unknown, type: 'float' | 'unixtime'): number {
  if (typeof value !== 'string' && typeof value !== 'number')
    throw new NotInterpreted('a time that is no number');
  const [, whole = '0', part = ''] = /^\s*([+-]?\d{1,11})(?:\.(\d{1,9}))?/.exec(String(value)) ?? [];
  return Number(whole) * 1000 + (type === 'float' ? Number(part.padEnd(3, '0').slice(0, 3)) : 0);
}

/** What Ruby's guess and ours agree on. */
const GUESSED = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})([.,]\d+)? ?(Z|UTC|GMT|[+-]\d{2}:?\d{2})?$/;

function guessTime(text: string): { at: number | null } | null {
  const [, day = '', time = '', fraction = '', zone] = GUESSED.exec(text) ?? [];
  const offset = offsetOf(zone);
  const at = Date.parse(`${day}T${time}${fraction.replace(',', '.')}Z`);
  if (Number.isNaN(at)) return null;
  return { at: offset === null ? null : at - offset * 60_000 };
}
