/**
 * Blanks the values behind keys that are to be hidden, wherever they stand in an event: in objects, in JSON that is kept
 * as text, in pairs of `name` and `value`, in lines of `key=value`. Keys and the shape of everything else stay. Redacting
 * again changes nothing.
 */
import { keyMatcher } from './key-patterns.ts';
import { MASK, redactText } from './redact-text.ts';

export { MASK };

export interface Redactor {
  /** `value` is bounded JSON. */
  value(value: unknown): unknown;
  text(text: string): string;
  hides(key: string): boolean;
}

/** JSON in a text in JSON in a text: deeper it is read as a line of text. */
const NESTED_TEXTS = 3;
/** Of JSON that stands in a text. What is deeper is blanked. */
const DEPTH = 64;
const NAMES = ['name', 'key', 'header', 'field'];
const VALUES = ['value', 'val', 'values'];

export function createRedactor(patterns: readonly string[]): Redactor {
  const hides = keyMatcher(patterns);

  function text(value: string, nested: number, found: { any: boolean }): string {
    const inner = nested < NESTED_TEXTS ? parsed(value) : undefined;
    const line = redactText(value, hides);
    if (inner === undefined) {
      if (line !== value) found.any = true;
      return line;
    }
    const inside = { any: false };
    const walked = walk(inner, nested + 1, 0, inside);
    // A key that stands twice is read once: where the text shows more than what was read, only that is kept.
    if (!inside.any && line === value) return value;
    found.any = true;
    return JSON.stringify(walked);
  }

  function walk(value: unknown, nested: number, depth: number, found: { any: boolean }): unknown {
    if (typeof value === 'string') return text(value, nested, found);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= DEPTH) {
      found.any = true;
      return MASK;
    }
    if (Array.isArray(value))
      return value.map((item) => {
        // Headers as pairs.
        if (!isPair(item) || !hides(item[0])) return walk(item, nested, depth + 1, found);
        found.any = true;
        return [text(item[0], nested, found), MASK];
      });
    const entries = Object.entries(value);
    const isNamed = entries.some(
      ([key, item]) => typeof item === 'string' && NAMES.includes(key.toLowerCase()) && hides(item),
    );
    return Object.fromEntries(
      entries.map(([key, item]) => {
        if (!hides(key) && !(isNamed && VALUES.includes(key.toLowerCase())))
          return [key, walk(item, nested, depth + 1, found)];
        found.any = true;
        return [key, MASK];
      }),
    );
  }

  return {
    value: (value) => walk(value, 0, 0, { any: false }),
    text: (value) => text(value, 0, { any: false }),
    hides,
  };
}

const isPair = (value: unknown): value is [string, unknown] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string';

/** The object or list that a text is the JSON of. */
function parsed(text: string): object | undefined {
  const trimmed = text.trim();
  const ends = `${trimmed[0]}${trimmed.at(-1)}`;
  if (ends !== '{}' && ends !== '[]') return undefined;
  try {
    return JSON.parse(trimmed) as object;
  } catch {
    return undefined;
  }
}
