/** What option checks say of a value, and what to do. */
import { isRecord } from '../../../platform/text/is-record.ts';
import { didYouMean } from '../../../platform/text/nearest-name.ts';

export const MAX_NAMES = 12;

const NAMES: Record<string, string> = {
  object: 'a map of options',
  array: 'a list',
  string: 'text',
  boolean: 'true or false',
  number: 'a number',
  integer: 'a whole number',
};

export const written = (value: unknown): string => {
  if (isRecord(value)) return 'a map';
  if (Array.isArray(value)) return 'a list';
  if (value === null) return 'empty';
  return typeof value === 'string' ? 'text' : String(value).slice(0, 40);
};

/** `sinks.out.batch`, shortened where a name is long. */
export const optionPath = (path: readonly string[]): string =>
  path.map((name) => name.slice(0, 100)).join('.');

export function expected(types: readonly string[], value: unknown): string {
  const names = [...new Set(types.filter((type) => type !== 'null').map((type) => NAMES[type] ?? type))];
  const last = names.pop() ?? 'empty';
  const wanted = names.length > 0 ? `${names.join(', ')} or ${last}` : last;
  return `must be ${wanted}, here it is ${written(value)}`;
}

export const quoteHint = (types: readonly string[], value: unknown): string =>
  types.includes('string') && (typeof value === 'number' || typeof value === 'boolean')
    ? `put it in quotes: "${String(value).slice(0, 100)}"`
    : 'correct the value';

export function oneOf(allowed: readonly unknown[], value: unknown): [message: string, hint: string] {
  const words = [...new Set(allowed.filter((word) => word !== null).map(String))];
  const list = `${words.slice(0, MAX_NAMES).join(', ')}${words.length > MAX_NAMES ? ', …' : ''}`;
  const message = words.length === 1 ? `must be ${list}` : `must be one of ${list}`;
  return [
    message,
    typeof value === 'string' ? lower(didYouMean(value, words, 'correct the value')) : 'correct the value',
  ];
}

/** The only name that goes on from a word, as `verify_certificate` does from `verify_cert`. */
export function longer(word: string, names: readonly string[]): string | null {
  const found = word.length < 4 ? [] : names.filter((name) => name.startsWith(word));
  return found.length === 1 ? (found[0] ?? null) : null;
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
