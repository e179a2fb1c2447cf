/**
 * Redacts the values of matching keys anywhere in an event: in objects, in JSON inside strings, in pairs of `name` and `value`,
 * in lines of `key=value`. Keys and the shape of everything else stay. Idempotent.
 */
import { keyMatcher } from './key-patterns.ts';
import { MASK, redactText } from './redact-text.ts';

export { MASK };

export interface Redactor {
  /** `value` is bounded JSON. */
  value(value: unknown): unknown;
  text(text: string): string;
  isRedacted(key: string): boolean;
}

/** Levels of JSON inside strings; deeper text is redacted as lines. */
const NESTED_TEXTS = 3;
/** Depth of JSON inside a string; deeper values are redacted. */
const DEPTH = 64;
const NAMES = ['name', 'key', 'header', 'field'];
const VALUES = ['value', 'val', 'values'];

export function createRedactor(patterns: readonly string[]): Redactor {
  const isRedacted = keyMatcher(patterns);

  function text(value: string, nesting: number, changed: { any: boolean }): string {
    const inner = nesting < NESTED_TEXTS ? parseJson(value) : undefined;
    const line = redactText(value, isRedacted);
    if (inner === undefined) {
      if (line !== value) changed.any = true;
      return line;
    }
    const innerChanged = { any: false };
    const redacted = walk(inner, nesting + 1, 0, innerChanged);
    // JSON.parse keeps the last of duplicate keys; if the text contains more than was parsed, the redacted text is returned.
    if (!innerChanged.any && line === value) return value;
    changed.any = true;
    return JSON.stringify(redacted);
  }

  function walk(value: unknown, nesting: number, depth: number, changed: { any: boolean }): unknown {
    if (typeof value === 'string') return text(value, nesting, changed);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= DEPTH) {
      changed.any = true;
      return MASK;
    }
    if (Array.isArray(value))
      return value.map((item) => {
        // A header as a pair of name and value.
        if (!isPair(item) || !isRedacted(item[0])) return walk(item, nesting, depth + 1, changed);
        changed.any = true;
        return [text(item[0], nesting, changed), MASK];
      });
    const entries = Object.entries(value);
    const isNamed = entries.some(
      ([key, item]) => typeof item === 'string' && NAMES.includes(key.toLowerCase()) && isRedacted(item),
    );
    return Object.fromEntries(
      entries.map(([key, item]) => {
        if (!isRedacted(key) && !(isNamed && VALUES.includes(key.toLowerCase())))
          return [key, walk(item, nesting, depth + 1, changed)];
        changed.any = true;
        return [key, MASK];
      }),
    );
  }

  return {
    value: (value) => walk(value, 0, 0, { any: false }),
    text: (value) => text(value, 0, { any: false }),
    isRedacted,
  };
}

const isPair = (value: unknown): value is [string, unknown] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string';

/** Parses a text as a JSON object or list; undefined if it is neither. */
function parseJson(text: string): object | undefined {
  const trimmed = text.trim();
  const ends = `${trimmed[0]}${trimmed.at(-1)}`;
  if (ends !== '{}' && ends !== '[]') return undefined;
  try {
    return JSON.parse(trimmed) as object;
  } catch {
    return undefined;
  }
}
