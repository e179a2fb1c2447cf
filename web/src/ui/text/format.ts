/** Numbers and moments in the form that people read. Every number carries its unit. */
const SI = ['', 'k', 'M', 'G', 'T'] as const;
const IEC = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

function scale(value: number, base: number, units: readonly string[]): { text: string; unit: string } {
  let index = 0;
  let rest = Math.abs(value);
  while (rest >= base && index < units.length - 1) {
    rest /= base;
    index += 1;
  }
  const digits =
    rest === 0 || rest >= 100 || (index === 0 && Number.isInteger(rest)) ? 0 : rest >= 10 ? 1 : 2;
  return { text: `${value < 0 ? '-' : ''}${rest.toFixed(digits)}`, unit: units[index] ?? '' };
}

/** 1234 → `1.23 k`. */
export function formatCount(value: number): string {
  const { text, unit } = scale(value, 1000, SI);
  return unit ? `${text} ${unit}` : text;
}

/** Events or errors a second: 0.25 → `0.25/s`, 1234 → `1.23 k/s`. */
export const formatRate = (perSecond: number): string => `${formatCount(perSecond)}/s`;

/** Seconds that an event takes: 0.00042 → `0.420 ms`, 0.00006 → `60 µs`. */
export const formatLatency = (seconds: number): string => {
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  return seconds > 0 && seconds < 1e-4
    ? `${Number((seconds * 1e6).toPrecision(3))} µs`
    : `${(seconds * 1_000).toPrecision(3)} ms`;
};

/** Bytes with binary units: 1536 → `1.50 KiB`. */
export function formatBytes(bytes: number): string {
  const { text, unit } = scale(bytes, 1024, IEC);
  return `${text} ${unit}`;
}

export const formatBytesRate = (perSecond: number): string => `${formatBytes(perSecond)}/s`;

export const formatPercent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** The two largest units: 3725 s → `1 h 2 min`. */
export function formatDuration(seconds: number): string {
  let rest = Math.max(0, Math.round(seconds));
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    if (count > 0 || (unit === 's' && parts.length === 0)) parts.push(`${count} ${unit}`);
    rest -= count * size;
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

/** `12 s ago`, `3 min ago`, `in 2 h`: one unit, for tables. */
export function formatRelative(at: Date, now: number): string {
  const seconds = Math.round((now - at.getTime()) / 1000);
  const size = Math.abs(seconds);
  // Clocks differ a little, and the page's own ticks every five seconds.
  if (size < 5 || (seconds < 0 && size < 15)) return 'just now';
  const [unit, unitSize] = UNITS.find(([, length]) => size >= length) ?? ['s', 1];
  // What comes in 2 days and 23 hours comes in 3 days: rounded down, what was just given for three says two.
  const count = seconds < 0 ? Math.round(size / unitSize) : Math.floor(size / unitSize);
  const text = `${count} ${unit}`;
  return seconds < 0 ? `in ${text}` : `${text} ago`;
}

export const formatExact = (at: Date): string =>
  at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export const shortCommit = (sha: string): string => sha.slice(0, 7);

/** A capital at the start and a stop at the end, for words that other programs wrote. A path at the start keeps its case. */
export const sentence = (text: string): string => {
  if (text === '') return '';
  const first = /^[^\s/]*\//.test(text) ? text.charAt(0) : text.charAt(0).toUpperCase();
  return `${first}${text.slice(1)}${/[.!?…]$/.test(text) ? '' : '.'}`;
};

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
