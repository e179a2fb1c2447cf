import { isTable } from '../config/table.ts';
import { type LogEvent, Timestamp } from '../event.ts';

/** Names of fields and indexes of arrays, from the outside in. */
export type FieldPath = readonly (string | number)[];

const SEGMENT = /\.?(?:([A-Za-z0-9_@-]+)|"((?:[^"\\]|\\.)*)")|\[(-?\d{1,9})\]/y;

/** Reads a path such as `.a.b`, `a."x y"` or `a[0]`. Undefined where the text is none, as for metadata (`%a`). */
export function parseFieldPath(text: string): FieldPath | undefined {
  const path: (string | number)[] = [];
  SEGMENT.lastIndex = 0;
  while (SEGMENT.lastIndex < text.length) {
    const match = SEGMENT.exec(text);
    if (!match) return undefined;
    const [, plain, quoted, index] = match;
    if (index !== undefined) path.push(Number(index));
    else path.push(plain ?? quoted!.replace(/\\(.)/g, '$1'));
  }
  return path.length === 0 ? undefined : path;
}

/** The value at a path, or undefined where there is none. A negative index counts from an array's end. */
export function fieldAt(event: LogEvent, path: FieldPath): unknown {
  let value: unknown = event;
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? value.at(step) : undefined;
    else
      value =
        isTable(value) && !(value instanceof Timestamp) && Object.hasOwn(value, step)
          ? value[step]
          : undefined;
  }
  return value;
}

/** A value as text, the way Vector turns any value into bytes. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Timestamp) return value.text;
  return value === undefined ? '' : JSON.stringify(value);
}
