/** Times of records in VRL: by a format, by numbers, or by guess as Ruby reads them. */
import type { Section } from '../../section/section.ts';
import { translateTimeFormat } from '../../text/time-format.ts';
import { vrlString } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';

/** Lines that have to run before, and an expression that fails where the variable `raw_time` is no time. */
export interface TimeCode {
  lines: string[];
  code: string;
}

/** The zone of times whose text has none. Null: that of the engine. */
export interface Zone {
  /** `+0900`, or a name of the time zone database. */
  name: string;
  isOffset: boolean;
}

/** Reads `timezone`, `utc` and `localtime`. */
export function zoneOf(section: Section): Zone | null {
  const zone = section.plain('timezone')?.trim();
  const isUtc = section.bool('utc', false) || !section.bool('localtime', true);
  if (zone === undefined || zone === '') return isUtc ? { name: '+0000', isOffset: true } : null;
  const offset = /^([+-]\d\d)(?::?(\d\d))?$/.exec(zone);
  if (offset) return { name: `${offset[1]}${offset[2] ?? '00'}`, isOffset: true };
  return /^(?:Z|UTC|GMT)$/i.test(zone) ? { name: '+0000', isOffset: true } : { name: zone, isOffset: false };
}

const DIGITS =
  'parse_regex(to_string(raw_time) ?? "", r\'^\\s*(?P<whole>[+-]?[0-9]{1,11})(?:\\.(?P<part>[0-9]{1,9}))?\')';

/** Seconds since 1970. As in Ruby a text counts as far as it has digits, and as 0 where it has none. */
export function numericTime(type: 'float' | 'unixtime'): TimeCode {
  const seconds = '(to_int(seconds.whole) ?? 0)';
  const lines = [`seconds = ${DIGITS} ?? {"whole": "0", "part": ""}`];
  if (type === 'unixtime') return { lines, code: `from_unix_timestamp(${seconds})` };
  const part = 'slice!(to_string(seconds.part) + "000000000", 0, 9)';
  return {
    lines,
    code: `from_unix_timestamp(${seconds} * 1000000000 + (to_int(${part}) ?? 0), unit: "nanoseconds")`,
  };
}

/** Null if the format has no counterpart. */
export function formattedTime(
  format: string,
  zone: Zone | null,
  draft: Draft,
  line: number,
): TimeCode | null {
  const translated = translateTimeFormat(format, 'parse');
  if (!translated) return null;
  if (translated.format === '%s')
    return { lines: [RAW_TEXT], code: 'parse_timestamp(raw_text, format: "%s")' };
  if (translated.format === '%+' && /Z$/.test(format)) {
    draft.info(
      'The Z at the end of time_format is read as UTC; Fluentd reads it as text and takes the time zone of its machine.',
      line,
    );
  }
  let text = translated.hasComma ? WITH_POINT : 'raw_text';
  let wanted = translated.format;
  if (translated.lacksYear) {
    text = `format_timestamp!(now(), format: "%Y ") + ${text}`;
    wanted = `%Y ${wanted}`;
  }
  // VRL wants a time of day in hours and minutes.
  if (!/%[-0]?[HIklTRcXs+r]/.test(wanted)) {
    text = `${text} + " 00:00"`;
    wanted = `${wanted} %H:%M`;
  } else if (!/%[-0]?[MTRcXs+r]/.test(wanted)) {
    text = `${text} + " 00"`;
    wanted = `${wanted} %M`;
  }
  return { lines: [RAW_TEXT], code: withZone(text, wanted, zone) };
}

const RAW_TEXT = 'raw_text = to_string(raw_time) ?? ""';
const WITH_POINT = 'replace(raw_text, r\'(:[0-9]{2}),([0-9])\', "$$1.$$2", count: 1)';
const HAS_ZONE = /%(?::?z|\+|s)/;

function withZone(text: string, format: string, zone: Zone | null): string {
  if (zone === null || HAS_ZONE.test(format)) return `parse_timestamp(${text}, format: ${vrlString(format)})`;
  return zone.isOffset
    ? `parse_timestamp(${text} + " ${zone.name}", format: ${vrlString(`${format} %z`)})`
    : `parse_timestamp(${text}, format: ${vrlString(format)}, timezone: ${vrlString(zone.name)})`;
}

/** What logs have, of what Ruby's `Time.parse` reads. The last one's error is the one that is shown. */
const GUESSES = [
  ...['%Y-%m-%dT%H:%M:%S%.f %z', '%Y-%m-%d %H:%M:%S%.f %z', '%Y/%m/%d %H:%M:%S%.f %z'],
  ...['%d/%b/%Y:%H:%M:%S %z', '%a, %d %b %Y %H:%M:%S %z', '%a %b %e %H:%M:%S %z %Y'],
  ...['%a %b %e %H:%M:%S%.f %Y', '%Y/%m/%d %H:%M:%S%.f', '%Y-%m-%dT%H:%M:%S%.f', '%Y-%m-%d %H:%M:%S%.f'],
];

/** Fluentd guesses the form of a time where the configuration has no format. */
export function guessedTime(draft: Draft, line: number): TimeCode {
  draft.difference(
    'There is no time_format, so Fluentd guesses how times are written; here the forms of RFC 3339, RFC 2822, access logs and ctime are read. Give time_format if yours are others.',
    line,
    'small',
  );
  const attempts = GUESSES.map((format) => `parse_timestamp(raw_text, format: ${vrlString(format)})`);
  return {
    lines: [
      RAW_TEXT,
      `raw_text = ${WITH_POINT}`,
      'raw_text = replace(raw_text, r\' ?(?:Z|UTC|GMT)$$\', " +0000")',
    ],
    code: attempts.join(' ?? '),
  };
}
