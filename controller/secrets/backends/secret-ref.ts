/** Where a secret is in its store: by default the entry of its name, below the store's prefix. */
import { BackendError, type Reading, redact, toReading } from './backend.ts';
import { recordOf } from './http-call.ts';

export interface SecretRef {
  name: string;
  /** Replaces prefix and name. */
  path: string | null;
  /** A property of an entry that is a JSON object; in Vault the field. */
  property: string | null;
  /** An immutable version, or a stage of AWS; null for the newest. */
  version: string | null;
}

export const refTo = (name: string): SecretRef => ({ name, path: null, property: null, version: null });

/** The value of a secret in the text of its entry: the whole text, or one property of its JSON object. */
export function readingIn(text: string, { property }: SecretRef, entry: string): Reading {
  if (property === null) return toReading(text);
  let record: Record<string, unknown> | null;
  try {
    record = recordOf(JSON.parse(text));
  } catch {
    record = null;
  }
  if (!record)
    return {
      error: `${entry} is not a JSON object, so it has no property "${property}"; leave the property out`,
    };
  const reading = scalarReading(valueAt(record, property));
  if (reading !== null) return reading;
  const keys = redact(Object.keys(record).slice(0, 10).join(', '), []);
  return { error: `${entry} has no text in the property "${property}"; its properties are: ${keys}` };
}

/** The reading of a text, a boolean or a safe integer; null for anything else. */
export function scalarReading(value: unknown): Reading | null {
  if (typeof value === 'string') return toReading(value);
  // RDS writes the port as a number. A number beyond the safe range has lost digits already.
  return typeof value === 'boolean' || Number.isSafeInteger(value) ? toReading(String(value)) : null;
}

/** `property` is a literal key, or a path of keys with dots between. */
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

/** @throws BackendError for a reference to a version, because a version is immutable. */
export function assertNewest({ name, version }: SecretRef): void {
  if (version === null) return;
  throw new BackendError(
    'refused',
    `${name} is registered with the version ${version}, so a new value would not be read; delete the secret here and register it without a version`,
  );
}

/** Secrets of one entry share one request. A failed request is forgotten, so that it can be repeated. */
export function shareRequests<T>(): (key: string, ask: () => Promise<T>) => Promise<T> {
  const requests = new Map<string, Promise<T>>();
  return (key, ask) => {
    const known = requests.get(key);
    if (known) return known;
    const request = ask();
    requests.set(key, request);
    request.catch(() => requests.delete(key));
    return request;
  };
}
