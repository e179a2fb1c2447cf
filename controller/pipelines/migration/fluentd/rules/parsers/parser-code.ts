/**
 * What a parser of Fluentd becomes: a part of a VRL program. It reads the variable `text` and sets `record`, `event_time`, and
 * `failure`, which is null if the text was parsed.
 */
import type { Section } from '../../section/section.ts';
import { vrlPath, vrlString } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';
import { formattedTime, guessedTime, numericTime, type TimeCode, zoneOf } from './time-code.ts';

export interface ParserCode {
  lines: string[];
  /** In Rust's syntax: begins a record of several lines. */
  firstLine: string | null;
}

export interface ParserDefaults {
  /** The plugin if there is no `<parse>`. */
  type?: string;
  timeFormat?: string;
  timeType?: string;
  timeKey?: string | null;
}

export const indent = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

/** Lines that take the time out of `record`, to stand where `record` is parsed. */
export function timeLines(section: Section, draft: Draft, defaults: ParserDefaults): string[] {
  section.ignore('timeout', 'estimate_current_event', 'json_parser', 'stream_buffer_size');
  const key = section.plain('time_key') ?? (defaults.timeKey === undefined ? 'time' : defaults.timeKey);
  const keep = section.bool('keep_time_key', false);
  const time = timeCode(section, draft, defaults);
  if (key === null || key === '') return [];
  if (time === null) {
    draft.difference(
      `The time format ${section.plain('time_format') ?? defaults.timeFormat ?? ''} has no counterpart; events get the time at which they are read.`,
      section.lineOf('time_format'),
      'large',
    );
    return [];
  }
  return [
    ...rawTime(key, keep),
    'if raw_time != null {',
    ...indent(time.lines),
    `  parsed_time, failure = ${time.code}`,
    '  if failure == null { event_time = parsed_time }',
    '}',
  ];
}

/** `get!` gives what may be of any type, whatever the compiler knows of the record. */
export const rawTime = (key: string, keep: boolean): string[] => [
  `raw_time = get!(record, [${vrlString(key)}])`,
  ...(keep ? [] : [`del(${vrlPath([key], 'record')})`]),
];

/** Null if the format has no counterpart. */
function timeCode(section: Section, draft: Draft, defaults: ParserDefaults): TimeCode | null {
  const format = section.plain('time_format') ?? defaults.timeFormat;
  const type =
    section.plain('time_type') ?? (section.has('time_format') ? 'string' : (defaults.timeType ?? 'string'));
  const fallbacks = section.array('time_format_fallbacks') ?? [];
  const zone = zoneOf(section);
  const line = section.lineOf('time_format');
  const codes = (type === 'mixed' ? [...(format === undefined ? [] : [format]), ...fallbacks] : [type]).map(
    (one) => {
      if (one === 'unixtime' || one === 'float') return numericTime(one);
      const wanted = type === 'mixed' ? one : format;
      return wanted === undefined ? guessedTime(draft, line) : formattedTime(wanted, zone, draft, line);
    },
  );
  const known = codes.filter((code) => code !== null);
  if (known.length === 0 || known.length < codes.length) return null;
  return {
    lines: [...new Set(known.flatMap(({ lines }) => lines))],
    code: known.map(({ code }) => code).join(' ?? '),
  };
}

const leading = (field: string, number: string): string =>
  `replace(to_string(${field}) ?? "", r'^\\s*(?P<n>${number})?[\\s\\S]*$$', "$$n")`;

const CONVERSIONS: Readonly<Record<string, (field: string) => string>> = {
  string: (field) => `to_string(${field}) ?? ""`,
  // As Ruby's to_i and to_f: a text counts as far as it is a number.
  integer: (field) => `to_int(${field}) ?? to_int(${leading(field, '[+-]?[0-9]+')}) ?? 0`,
  float: (field) => `to_float(${field}) ?? to_float(${leading(field, '[+-]?[0-9]*\\.?[0-9]+')}) ?? 0.0`,
  bool: (field) => `match(to_string(${field}) ?? "", r'(?i)^(?:true|yes|1)$')`,
  array: (field) => `split(to_string(${field}) ?? "", ",")`,
};

/** `types`, `null_value_pattern` and `null_empty_string`. */
export function conversionLines(section: Section, draft: Draft): string[] {
  const lines: string[] = [];
  if (section.bool('null_empty_string', false)) {
    lines.push('record = map_values(record) -> |value| { if value == "" { null } else { value } }');
  }
  const types = section.hash('types') ?? {};
  for (const [key, type] of Object.entries(types)) {
    const [name = '', ...options] = String(type).split(':');
    const conversion = CONVERSIONS[name];
    if (!conversion || options.length > 0) {
      draft.difference(
        `The type ${String(type)} of ${key} is not converted.`,
        section.lineOf('types'),
        'small',
      );
      continue;
    }
    // `get!` gives what may be of any type, whatever the compiler knows of the record.
    lines.push(
      `untyped = get!(record, [${vrlString(key)}])`,
      `if untyped != null { ${vrlPath([key], 'record')} = ${conversion('untyped')} }`,
    );
  }
  return lines;
}
