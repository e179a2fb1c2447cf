/** Where a secret is in its store. Without anything else its name says it, below the prefix of the store. */
import { BackendError, quoted, type Reading, readingOf } from './backend.ts';
import { recordOf } from './http-call.ts';

export interface SecretRef {
  name: string;
  /** In place of the name and the prefix. */
  path: string | null;
  /** Of an entry that is a JSON object; of Vault the field. */
  property: string | null;
  /** One that does not change any longer, or a stage of AWS; without it the newest. */
  version: string | null;
}

export const refTo = (name: string): SecretRef => ({ name, path: null, property: null, version: null });

/** The value of `ref` in the text of its entry: all of it, or one property of the JSON object that it is. */
export function readingIn(text: string, { property }: SecretRef, entry: string): Reading {
  if (property === null) return readingOf(text);
  let record: Record<string, unknown> | null;
  try {
    record = recordOf(JSON.parse(text));
  } catch {
    record = null;
  }
  if (!record)
    return {
      error: `${entry} is no JSON object, so it has no property "${property}"; leave the property out`,
    };
  const reading = scalarReading(valueAt(record, property));
  if (reading !== null) return reading;
  const keys = quoted(Object.keys(record).slice(0, 10).join(', '), []);
  return { error: `${entry} has no text in the property "${property}"; its properties are: ${keys}` };
}

/** Of a text, `true`, `false` or a whole number; null for anything else. */
export function scalarReading(value: unknown): Reading | null {
  if (typeof value === 'string') return readingOf(value);
  // RDS writes the port as a number. A larger one has lost digits already.
  return typeof value === 'boolean' || Number.isSafeInteger(value) ? readingOf(String(value)) : null;
}

/** A key as it is written, or a path of keys with dots between. */
function valueAt(record: Record<string, unknown>, property: string): unknown {
  if (Object.hasOwn(record, property)) return record[property];
  let value: unknown = record;
  for (const key of property.split('.')) {
    const inner = recordOf(value);
    if (!inner || !Object.hasOwn(inner, key)) return undefined;
    value = inner[key];
  }
  return value;
}

/** @throws BackendError for one that names a version, which stays what it is. */
export function assertNewest({ name, version }: SecretRef): void {
  if (version === null) return;
  throw new BackendError(
    'refused',
    `${name} is registered with the version ${version}, so a new value would not be read; delete it here and register it without a version`,
  );
}

/** Secrets that are parts of one entry share its answer. A failure is not kept. */
export function uniqueRefs<T>(): (key: string, ask: () => Promise<T>) => Promise<T> {
  const asked = new Map<string, Promise<T>>();
  return (key, ask) => {
    const known = asked.get(key);
    if (known) return known;
    const answer = ask();
    asked.set(key, answer);
    answer.catch(() => asked.delete(key));
    return answer;
  };
}
