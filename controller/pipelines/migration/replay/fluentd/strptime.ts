/** Times by strptime formats, as Fluentd reads them. */
import { NotInterpreted } from './event.ts';

const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
];
const MONTH = MONTHS.flatMap((name) => [name, name.slice(0, 3)]).join('|');
const WEEKDAY = '(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:day)?';
const PARTS: Readonly<Record<string, string>> = {
  ...{ Y: '(?<Y>\\d{4})', y: '(?<y>\\d{2})', m: '(?<m>\\d{1,2})' },
  ...{ d: '(?<d>\\s?\\d{1,2})', e: '(?<d>\\s?\\d{1,2})' },
  ...{ H: '(?<H>\\s?\\d{1,2})', I: '(?<I>\\d{1,2})', M: '(?<M>\\d{1,2})', S: '(?<S>\\d{1,2})' },
  ...{ p: '(?<p>[ap]m)', b: `(?<b>${MONTH})`, B: `(?<b>${MONTH})`, h: `(?<b>${MONTH})` },
  ...{ a: WEEKDAY, A: WEEKDAY, L: '(?<L>\\d{1,9})', N: '(?<L>\\d{1,9})' },
  z: '(?<z>Z|[+-]\\d{2}:?\\d{2})',
  // Seconds take all digits that there are.
  s: '(?<s>[+-]?\\d{1,12}(?!\\d))',
  '%': '%',
};
const SHORT: Readonly<Record<string, string>> = { T: '%H:%M:%S', F: '%Y-%m-%d', D: '%m/%d/%y', R: '%H:%M' };
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?<zone>Z|[+-]\d{2}:?\d{2})?$/i;

export interface ReadTime {
  /** Milliseconds since 1970, without parts of them; null where the text has no zone or no year, so that it depends on the machine. */
  at: number | null;
}

/** `offsetMinutes` is that of the configuration; null without one. Null where the text is not of the format. */
export function readTime(text: string, format: string, offsetMinutes: number | null): ReadTime | null {
  if (format === 'iso8601' || format === '%iso8601') return readIso(text);
  const expanded = format.replaceAll(/%([TFDR])/g, (_, letter: string) => SHORT[letter] ?? '');
  const pattern = expanded.replaceAll(
    /%([:\d^_#-]?)([A-Za-z%])|[\\^$.|?*+()[\]{}/]|\s+|%/g,
    (match, flag: string, letter?: string) => {
      if (match === '%') throw new NotInterpreted(`the time format ${format.slice(0, 60)}`);
      if (letter === undefined) return /^\s/.test(match) ? '\\s*' : `\\${match}`;
      const part = PARTS[letter];
      const isKnown = flag === '' || (flag === ':' && letter === 'z') || (/\d/.test(flag) && letter === 'N');
      if (part === undefined || !isKnown) throw new NotInterpreted(`the time format ${match}`);
      return part;
    },
  );
  const groups = compiled(pattern).exec(text)?.groups;
  return groups && isValid(groups) ? { at: momentOf(groups, offsetMinutes) } : null;
}

function readIso(text: string): ReadTime | null {
  const match = ISO.exec(text);
  if (!match) return null;
  const at = Date.parse(match.groups?.zone === undefined ? `${text}Z` : text);
  if (Number.isNaN(at)) return null;
  return { at: match.groups?.zone === undefined ? null : at };
}

function compiled(pattern: string): RegExp {
  try {
    return new RegExp(`^${pattern}$`, 'i');
  } catch {
    throw new NotInterpreted('a time format that has a part twice');
  }
}

type Groups = Readonly<Record<string, string | undefined>>;
const LIMITS: Readonly<Record<string, readonly [number, number]>> = {
  ...{ m: [1, 12], d: [1, 31], H: [0, 23], I: [1, 12], M: [0, 59], S: [0, 60] },
};

const isValid = (groups: Groups): boolean =>
  Object.entries(LIMITS).every(([name, [least, most]]) => {
    const value = groups[name];
    return value === undefined || (Number(value) >= least && Number(value) <= most);
  });

function momentOf(groups: Groups, offsetMinutes: number | null): number | null {
  const fraction = groups.L === undefined ? 0 : Number(`0.${groups.L}`) * 1000;
  if (groups.s !== undefined) return Number(groups.s) * 1000 + Math.floor(fraction);
  const number = (name: string, fallback: number) => Number(groups[name]?.trim() ?? fallback);
  const year = groups.Y !== undefined ? Number(groups.Y) : groups.y !== undefined ? century(groups.y) : null;
  const offset = offsetOf(groups.z) ?? offsetMinutes;
  if (year === null || offset === null) return null;
  const month =
    groups.b === undefined
      ? number('m', 1) - 1
      : MONTHS.findIndex((name) => name.startsWith(groups.b?.toLowerCase().slice(0, 3) ?? ''));
  const afternoon = groups.p?.toLowerCase() === 'pm' ? 12 : 0;
  const hour = groups.I === undefined ? number('H', 0) : (number('I', 12) % 12) + afternoon;
  const at = new Date(0);
  // Date.UTC takes years below 100 for those of the last century.
  at.setUTCFullYear(year, month, number('d', 1));
  at.setUTCHours(hour, number('M', 0) - offset, number('S', 0), Math.floor(fraction));
  return at.getTime();
}

/** POSIX: 69 to 99 are of the last century. */
const century = (digits: string): number => Number(digits) + (Number(digits) < 69 ? 2000 : 1900);

/** Minutes. */
export function offsetOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^(?:Z|UTC|GMT)$/i.test(text)) return 0;
  const match = /^([+-])(\d{2}):?(\d{2})?$/.exec(text);
  return match ? (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3] ?? 0)) : null;
}
