/**
 * What a node sent as an event, made fit to be kept and shown: bounded in depth and size, without what the database
 * cannot keep. It is JSON of whatever shape: nothing is believed of it.
 */
import { MAX_KEY_CHARS } from './key-patterns.ts';

const DEPTH = 32;
const STRING_CHARS = 16_384;
/** Beside its characters, each value costs so many: quotes, commas, brackets. */
const OVERHEAD = 4;
const LEFT_OUT = '…';

interface Budget {
  left: number;
}

/** Postgres keeps neither NUL nor half a surrogate pair. */
const storable = (text: string): string =>
  (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed();

/** Cut to `chars`, and at a whole character. */
export function boundText(text: string, chars: number): string {
  return text.length > chars ? `${storable(text.slice(0, chars))}…` : storable(text);
}

/** At most about `chars` characters as JSON. */
export function boundEvent(value: unknown, chars: number): unknown {
  return bound(value, 0, { left: chars });
}

function bound(value: unknown, depth: number, budget: Budget): unknown {
  budget.left -= OVERHEAD;
  switch (typeof value) {
    case 'string': {
      const kept = boundText(value, Math.max(0, Math.min(STRING_CHARS, budget.left)));
      budget.left -= jsonChars(kept);
      return kept;
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
  return Array.isArray(value) ? boundList(value, depth, budget) : boundObject(value, depth, budget);
}

function boundList(list: readonly unknown[], depth: number, budget: Budget): unknown[] {
  const kept: unknown[] = [];
  for (const item of list) {
    if (budget.left <= 0) {
      kept.push(`${LEFT_OUT} ${list.length - kept.length} more`);
      break;
    }
    kept.push(bound(item, depth + 1, budget));
  }
  return kept;
}

function boundObject(object: object, depth: number, budget: Budget): object {
  const kept: [string, unknown][] = [];
  // Not by Object.entries, which would make a pair of each before the first is looked at.
  for (const key of Object.keys(object)) {
    if (budget.left <= 0) {
      kept.push([LEFT_OUT, 'more fields']);
      break;
    }
    // One character more than what is taken for hidden, so that a cut key is hidden as well.
    const name = storable(key.slice(0, MAX_KEY_CHARS + 1));
    budget.left -= jsonChars(name);
    kept.push([name, bound((object as Record<string, unknown>)[key], depth + 1, budget)]);
  }
  // Defines even a key like `__proto__` as a field of its own.
  return Object.fromEntries(kept);
}

/** Signs that JSON escapes take up to six characters. */
function jsonChars(text: string): number {
  let chars = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x20) chars += 5;
    else if (code === 0x22 || code === 0x5c) chars += 1;
  }
  return chars;
}
