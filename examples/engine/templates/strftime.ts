/** Times in texts, by the signs of strftime as the library `chrono` knows them. */

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const DAY_MS = 86_400_000;

interface Local {
  /** The date whose UTC parts are those of the local time. */
  at: Date;
  /** Minutes ahead of UTC. */
  offset: number;
}

const pad = (value: number, width = 2, fill = '0') => String(value).padStart(width, fill);
const twelve = (hour: number) => hour % 12 || 12;
const yearDay = ({ at }: Local) =>
  Math.floor(
    (Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()) - Date.UTC(at.getUTCFullYear(), 0)) /
      DAY_MS,
  );

/** The year and week of ISO 8601: a week belongs to the year of its Thursday. */
function isoWeek({ at }: Local): { year: number; week: number } {
  const day = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate());
  const thursday = new Date(day + (4 - (at.getUTCDay() || 7)) * DAY_MS);
  const first = Date.UTC(thursday.getUTCFullYear(), 0);
  return { year: thursday.getUTCFullYear(), week: Math.floor((thursday.getTime() - first) / DAY_MS / 7) + 1 };
}

function zone(offset: number, colon: string): string {
  const minutes = Math.abs(offset);
  return `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}${colon}${pad(minutes % 60)}`;
}

const SIGNS: Record<string, (local: Local) => string> = {
  Y: ({ at }) => pad(at.getUTCFullYear(), 4),
  C: ({ at }) => pad(Math.floor(at.getUTCFullYear() / 100)),
  y: ({ at }) => pad(at.getUTCFullYear() % 100),
  q: ({ at }) => String(Math.floor(at.getUTCMonth() / 3) + 1),
  m: ({ at }) => pad(at.getUTCMonth() + 1),
  b: ({ at }) => MONTHS[at.getUTCMonth()]!.slice(0, 3),
  B: ({ at }) => MONTHS[at.getUTCMonth()]!,
  h: ({ at }) => MONTHS[at.getUTCMonth()]!.slice(0, 3),
  d: ({ at }) => pad(at.getUTCDate()),
  e: ({ at }) => pad(at.getUTCDate(), 2, ' '),
  a: ({ at }) => DAYS[at.getUTCDay()]!.slice(0, 3),
  A: ({ at }) => DAYS[at.getUTCDay()]!,
  w: ({ at }) => String(at.getUTCDay()),
  u: ({ at }) => String(at.getUTCDay() || 7),
  U: (local) => pad(Math.floor((yearDay(local) + 7 - local.at.getUTCDay()) / 7)),
  W: (local) => pad(Math.floor((yearDay(local) + 7 - ((local.at.getUTCDay() + 6) % 7)) / 7)),
  G: (local) => pad(isoWeek(local).year, 4),
  g: (local) => pad(isoWeek(local).year % 100),
  V: (local) => pad(isoWeek(local).week),
  j: (local) => pad(yearDay(local) + 1, 3),
  H: ({ at }) => pad(at.getUTCHours()),
  k: ({ at }) => pad(at.getUTCHours(), 2, ' '),
  I: ({ at }) => pad(twelve(at.getUTCHours())),
  l: ({ at }) => pad(twelve(at.getUTCHours()), 2, ' '),
  P: ({ at }) => (at.getUTCHours() < 12 ? 'am' : 'pm'),
  p: ({ at }) => (at.getUTCHours() < 12 ? 'AM' : 'PM'),
  M: ({ at }) => pad(at.getUTCMinutes()),
  S: ({ at }) => pad(at.getUTCSeconds()),
  f: ({ at }) => pad(at.getUTCMilliseconds() * 1_000_000, 9),
  Z: ({ offset }) => zone(offset, ':'),
  z: ({ offset }) => zone(offset, ''),
  s: ({ at, offset }) => String(Math.floor(at.getTime() / 1000) - offset * 60),
  t: () => '\t',
  n: () => '\n',
  '%': () => '%',
};

/** Signs that stand for several others. */
const COMPOUND: Record<string, string> = {
  D: '%m/%d/%y',
  x: '%m/%d/%y',
  F: '%Y-%m-%d',
  v: '%e-%b-%Y',
  R: '%H:%M',
  T: '%H:%M:%S',
  X: '%H:%M:%S',
  r: '%I:%M:%S %p',
  c: '%a %b %e %H:%M:%S %Y',
};

/** The last two alternatives find what is no sign. */
const ITEM = /%(?:[-_0]?([A-Za-z%])|(:z)|(\.?[369]f|\.f)|(\+))|%/g;

/** Whether each `%` in a text begins a sign that is known. */
export function isStrftime(text: string): boolean {
  for (const [, sign, colon, fraction, full] of text.matchAll(ITEM)) {
    if (colon || fraction || full) continue;
    if (sign === undefined || !(Object.hasOwn(SIGNS, sign) || Object.hasOwn(COMPOUND, sign))) return false;
  }
  return true;
}

/** Fills the times in; `offset` are the minutes that local time is ahead of UTC. */
export function strftime(text: string, now: Date, offset = 0): string {
  if (!text.includes('%')) return text;
  const local: Local = { at: new Date(now.getTime() + offset * 60_000), offset };
  return text.replace(ITEM, (match, sign?: string, colon?: string, fraction?: string, full?: string) => {
    if (colon) return zone(offset, ':');
    if (full) return strftime('%Y-%m-%dT%H:%M:%S%.3f%:z', now, offset);
    if (fraction) {
      const digits = Number(/[369]/.exec(fraction)?.[0] ?? 3);
      const nanos = pad(local.at.getUTCMilliseconds(), 3).padEnd(9, '0');
      return `${fraction.startsWith('.') ? '.' : ''}${nanos.slice(0, digits)}`;
    }
    if (sign === undefined) return match;
    if (Object.hasOwn(COMPOUND, sign)) return strftime(COMPOUND[sign]!, now, offset);
    const value = SIGNS[sign]!(local);
    if (match[1] === '-') return value.replace(/^[0 ]+(?=.)/, '');
    if (match[1] === '_') return value.replace(/^0+(?=.)/, (zeros) => ' '.repeat(zeros.length));
    return match[1] === '0' ? value.replace(/^ +/, (blanks) => '0'.repeat(blanks.length)) : value;
  });
}
