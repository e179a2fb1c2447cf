import { createHash } from 'node:crypto';
import { component, DEFAULT_OUTPUT, type LogSchema, type Transform } from '../component.ts';
import { defaulted, optional, table, type Values } from '../config/options.ts';
import { refusal } from '../config/refusals.ts';
import { integer, list, text } from '../config/shape.ts';
import { isTable } from '../config/table.ts';
import { type LogEvent, logBatch, Timestamp } from '../event.ts';
import { type FieldPath, fieldAt, parseFieldPath, valueText } from '../templates/field-path.ts';
import { Recent } from './recent.ts';

const DEFAULT_CACHE_EVENTS = 5000;
const MAX_CACHE_EVENTS = 1_000_000;
/** Above this, what is remembered of an event is a hash, so that the cache stays small. */
const MAX_KEY_LENGTH = 64;

type Fields = { match: FieldPath[] } | { ignore: ReadonlySet<string> };

const FIELDS = {
  match: optional(list(text), 'The fields that are compared.', {
    examples: [['field1', 'parent.child_field']],
  }),
  ignore: optional(list(text), 'The fields that are not compared; all others are.', {
    examples: [['timestamp']],
  }),
};

export const dedupe = component({
  title: 'Dedupe',
  about: 'Drops an event whose fields are those of one that passed not long ago.',
  options: {
    fields: defaulted(
      table(FIELDS),
      {},
      'What makes two events the same: either `match` or `ignore`. Without both, message, host and time.',
    ),
    cache: defaulted(
      table({
        num_events: defaulted(
          integer({ minimum: 1, maximum: MAX_CACHE_EVENTS }),
          DEFAULT_CACHE_EVENTS,
          'How many different events to remember.',
          { unit: 'events' },
        ),
      }),
      {},
      'What is remembered.',
    ),
  },
  lacking: ['time_settings'],
  configure(values, { logSchema }, path): Transform {
    const fields = fieldsOf(values.fields, logSchema, path);
    const keyOf = 'match' in fields ? matchKey(fields.match) : ignoreKey(fields.ignore);
    return {
      ports: [DEFAULT_OUTPUT],
      accepts: ['log'],
      programs: [],
      start: ({ metrics }) => {
        const seen = new Recent<string, true>(values.cache.num_events);
        return (batch) => {
          if (batch.kind !== 'log') return new Map();
          const fresh = batch.events.filter((event) => {
            const key = shorten(JSON.stringify(keyOf(event)));
            if (seen.get(key)) return false;
            seen.set(key, true);
            return true;
          });
          const dropped = batch.events.length - fresh.length;
          if (dropped > 0) metrics.discarded(dropped, true);
          return new Map([[DEFAULT_OUTPUT, logBatch(fresh)]]);
        };
      },
    };
  },
});

function fieldsOf({ match, ignore }: Values<typeof FIELDS>, logSchema: LogSchema, path: string): Fields {
  if (match && ignore) throw refusal('only one of `fields.match` and `fields.ignore` can be set', path);
  const parsed = (match ?? ignore ?? []).map((written) => {
    const field = parseFieldPath(written);
    if (!field) throw refusal('`fields` must hold paths of event fields', path);
    return field;
  });
  if (match) return { match: parsed };
  if (ignore) return { ignore: new Set(parsed.map((one) => JSON.stringify(one))) };
  return { match: [[logSchema.message], [logSchema.host], [logSchema.timestamp]] };
}

/** The fields in the order of the configuration; one that is missing is not the same as one that is null. */
function matchKey(fields: readonly FieldPath[]): (event: LogEvent) => unknown {
  return (event) =>
    fields.map((path) => {
      const value = fieldAt(event, path);
      return value === undefined ? null : [typeOf(value), valueText(value)];
    });
}

/** Every leaf of the event with its path; a field is ignored by its own path and not by that of its parent. */
function ignoreKey(ignored: ReadonlySet<string>): (event: LogEvent) => unknown {
  return (event) => {
    const leaves: [string, string, string][] = [];
    const walk = (value: unknown, path: (string | number)[]) => {
      const children = childrenOf(value);
      if (children.length > 0) {
        for (const [step, child] of children) walk(child, [...path, step]);
        return;
      }
      const name = JSON.stringify(path);
      if (!ignored.has(name)) leaves.push([name, typeOf(value), valueText(value)]);
    };
    walk(event, []);
    return leaves.sort(([a], [b]) => (a < b ? -1 : 1));
  };
}

function childrenOf(value: unknown): [string | number, unknown][] {
  if (Array.isArray(value)) return [...value.entries()];
  return isTable(value) && !(value instanceof Timestamp) ? Object.entries(value) : [];
}

/** Values of different types are different though they read alike: 1 and "1". */
function typeOf(value: unknown): string {
  if (value instanceof Timestamp) return 'timestamp';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'float';
  return value === null ? 'null' : typeof value;
}

function shorten(key: string): string {
  return key.length <= MAX_KEY_LENGTH ? key : createHash('sha256').update(key).digest('base64');
}
