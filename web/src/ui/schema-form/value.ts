/** Values under a form: each change gives another value and leaves the one that it was given. Undefined is "not written". */
import { isPlain, type Plain } from './schema.ts';

/** The options with one of them written, or taken out where `next` is undefined; the order of the others stays. */
export function withOption(options: Plain, name: string, next: unknown): Plain {
  if (next !== undefined) return { ...options, [name]: next };
  const { [name]: _, ...rest } = options;
  return rest;
}

export const withItem = (list: readonly unknown[], index: number, next: unknown): unknown[] =>
  list.map((item, at) => (at === index ? next : item));

export const withoutItem = (list: readonly unknown[], index: number): unknown[] =>
  list.filter((_, at) => at !== index);

/** The entry keeps its place under the new key. */
export const renameEntry = (map: Plain, from: string, to: string): Plain =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key === from ? to : key, value]));

/** The options that a form does not know, and so cannot show as fields. */
export const unknownOptions = (options: Plain, known: readonly string[]): Plain =>
  Object.fromEntries(Object.entries(options).filter(([name]) => !known.includes(name)));

/** The known options as they are, with others in the place of the unknown ones. A known name among them is let go. */
export function withUnknown(options: Plain, known: readonly string[], unknown: Plain): Plain {
  const kept = Object.entries(options).filter(([name]) => known.includes(name));
  return { ...Object.fromEntries(kept), ...unknownOptions(unknown, known) };
}

/** An optional section in which nothing is written is not written itself. */
export const unlessEmpty = (value: Plain | readonly unknown[]): unknown =>
  Object.keys(value).length === 0 ? undefined : value;

export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  if (!isPlain(a) || !isPlain(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
  );
}

/** One line, for placeholders and hints. */
export function inOneLine(value: unknown): string {
  // A line break or blanks alone would be invisible.
  if (typeof value === 'string' && value.trim() !== '' && !/[\n\r\t]/.test(value)) return value;
  return JSON.stringify(value) ?? '';
}
