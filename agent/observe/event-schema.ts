import type { EventField, EventFieldType } from '../../schemas/agent/protocol.ts';

const MOST_FIELDS = 1_000;
const MOST_DEPTH = 32;
const PATH_CHARS = 1_024;
const SAMPLE_CHARS = 200;
/** An array may hold any number of items; the first ones show their form. */
const MOST_ITEMS = 100;

/** RFC 3339, as engines write their times. */
const TIMESTAMP =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;
const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The fields that these events have, in the order in which they were seen first; tables before what is in them. */
export function inferSchema(events: readonly unknown[]): EventField[] {
  const fields = new Map<string, EventField>();
  for (const event of events) {
    if (isTable(event)) visitKeys(event, '', fields, 0);
    else visit(event, '.', fields, 0);
  }
  return [...fields.values()];
}

function visit(value: unknown, path: string, fields: Map<string, EventField>, depth: number): void {
  note(value, path, fields);
  if (depth >= MOST_DEPTH) return;
  if (Array.isArray(value)) {
    for (const item of value.slice(0, MOST_ITEMS)) visit(item, `${path}[]`, fields, depth + 1);
  } else if (isTable(value)) visitKeys(value, path, fields, depth + 1);
}

function visitKeys(
  table: Record<string, unknown>,
  path: string,
  fields: Map<string, EventField>,
  depth: number,
): void {
  for (const [key, value] of Object.entries(table)) {
    const name = PLAIN_KEY.test(key) ? key : JSON.stringify(key);
    visit(value, `${path}.${name}`, fields, depth);
  }
}

function note(value: unknown, path: string, fields: Map<string, EventField>): void {
  const type = typeOf(value);
  const known = fields.get(path);
  if (known) {
    if (known.type === 'null' && type !== 'null') known.sample = sampleOf(value);
    known.type = merge(known.type, type);
  } else if (fields.size < MOST_FIELDS && path.length <= PATH_CHARS) {
    fields.set(path, { path, type, sample: sampleOf(value) });
  }
}

export function typeOf(value: unknown): EventFieldType {
  switch (typeof value) {
    case 'string':
      return TIMESTAMP.test(value) ? 'timestamp' : 'string';
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'float';
    case 'boolean':
      return 'boolean';
    default:
      return Array.isArray(value) ? 'array' : isTable(value) ? 'object' : 'null';
  }
}

/** A time is a text too, and a field that is sometimes empty has the type that it has otherwise. */
function merge(a: EventFieldType, b: EventFieldType): EventFieldType {
  if (a === b || b === 'null') return a;
  if (a === 'null') return b;
  const both = new Set([a, b]);
  if (both.has('integer') && both.has('float')) return 'float';
  if (both.has('string') && both.has('timestamp')) return 'string';
  return 'mixed';
}

/** Of tables and arrays there is none: their fields have their own. */
function sampleOf(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, SAMPLE_CHARS).toWellFormed();
  return typeof value === 'object' ? (value === null ? null : undefined) : value;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
