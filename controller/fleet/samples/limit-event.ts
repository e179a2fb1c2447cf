/**
 * Limits an event from a node in depth and size and removes characters that the database cannot store. The event is untrusted JSON of any
 * shape.
 */
import { MAX_KEY_CHARS } from './key-patterns.ts';

const DEPTH = 32;
const STRING_CHARS = 16_384;
/** Characters counted per value in addition to its text: quotes, commas, brackets. */
const OVERHEAD = 4;
const LEFT_OUT = '…';

interface Budget {
  left: number;
}

/** Postgres stores neither NUL nor unpaired surrogates. */
const storable = (text: string): string =>
  (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed();

/** Truncates to `chars` without splitting a surrogate pair. */
export function limitText(text: string, chars: number): string {
  return text.length > chars ? `${storable(text.slice(0, chars))}…` : storable(text);
}

/** Limits a value to about `chars` characters of JSON. */
export function limitEvent(value: unknown, chars: number): unknown {
  return limitValue(value, 0, { left: chars });
}

function limitValue(value: unknown, depth: number, budget: Budget): unknown {
  budget.left -= OVERHEAD;
  switch (typeof value) {
    case 'string': {
      const limited = limitText(value, Math.max(0, Math.min(STRING_CHARS, budget.left)));
      budget.left -= jsonChars(limited);
      return limited;
    }
    case 'number':
      budget.left -= 8;
      return Number.isFinite(value) ? value : String(value);
    case 'boolean':
      return value;
    case 'object':
      break;
    default:
      return null;
  }
  if (value === null) return null;
  if (depth >= DEPTH) return `${LEFT_OUT} deeper than ${DEPTH} levels`;
  return Array.isArray(value) ? limitList(value, depth, budget) : limitObject(value, depth, budget);
}

function limitList(list: readonly unknown[], depth: number, budget: Budget): unknown[] {
  const limited: unknown[] = [];
  for (const item of list) {
    if (budget.left <= 0) {
      limited.push(`${LEFT_OUT} ${list.length - limited.length} more`);
      break;
    }
    limited.push(limitValue(item, depth + 1, budget));
  }
  return limited;
}

function limitObject(object: object, depth: number, budget: Budget): object {
  const limited: [string, unknown][] = [];
  // Object.entries would build a pair for each key before the first one is read.
  for (const key of Object.keys(object)) {
    if (budget.left <= 0) {
      limited.push([LEFT_OUT, 'more fields']);
      break;
    }
    // One character longer than the limit above which a key is redacted, so that a truncated key is redacted too.
    const name = storable(key.slice(0, MAX_KEY_CHARS + 1));
    budget.left -= jsonChars(name);
    limited.push([name, limitValue((object as Record<string, unknown>)[key], depth + 1, budget)]);
  }
  // Object.fromEntries defines even `__proto__` as an own property.
  return Object.fromEntries(limited);
}

/** Characters that JSON escapes take up to six characters. */
function jsonChars(text: string): number {
  let chars = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x20) chars += 5;
    else if (code === 0x22 || code === 0x5c) chars += 1;
  }
  return chars;
}
