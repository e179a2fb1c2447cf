/** Normalizes and merges the fields of sampled events that nodes report. */
import type { EventField, EventFieldType } from '../../../schemas/agent/protocol.ts';
import { limitEvent, limitText } from './limit-event.ts';
import type { Redactor } from './redact.ts';

const PATH_CHARS = 1_024;
const SAMPLE_CHARS = 200;
/** Fields per component. */
const MAX_FIELDS = 1_000;

/** The keys along a path: `.a."b c"[].d` has a, b c and d. */
export function keysOfPath(path: string): string[] {
  const keys: string[] = [];
  let at = 0;
  while (at < path.length) {
    if (path[at] === '.' || path[at] === '[' || path[at] === ']') {
      at += 1;
    } else if (path[at] === '"') {
      let key = '';
      at += 1;
      while (at < path.length && path[at] !== '"') {
        if (path[at] === '\\') at += 1;
        key += path[at] ?? '';
        at += 1;
      }
      at += 1;
      keys.push(key);
    } else {
      const start = at;
      while (at < path.length && path[at] !== '.' && path[at] !== '[') at += 1;
      keys.push(path.slice(start, at));
    }
  }
  return keys;
}

/** Normalizes fields for storage: one entry per path, no sample of a redacted key. */
export function normalizeFields(fields: readonly EventField[], redactor: Redactor): EventField[] {
  const normalized = new Map<string, EventField>();
  for (const { path: rawPath, type, sample } of fields.slice(0, MAX_FIELDS)) {
    const path = limitText(rawPath, PATH_CHARS - 1);
    if (path === '' || normalized.has(path)) continue;
    const redacted = keysOfPath(path).some(redactor.isRedacted) ? undefined : redactSample(sample, redactor);
    normalized.set(path, { path, type, ...(redacted === undefined ? {} : { sample: redacted }) });
  }
  return [...normalized.values()];
}

/** Keeps only scalar values: the fields of an object or list are listed on their own. */
function redactSample(sample: unknown, redactor: Redactor): unknown {
  if (sample === undefined || (typeof sample === 'object' && sample !== null)) return undefined;
  // Redacted before truncation: a truncated secret might not be recognized.
  const whole = redactor.value(limitEvent(sample, PATH_CHARS * 16));
  return typeof whole === 'string' ? limitText(whole, SAMPLE_CHARS) : whole;
}

export function mergeTypes(first: EventFieldType, second: EventFieldType): EventFieldType {
  if (first === second || second === 'null') return first;
  if (first === 'null') return second;
  const both = [first, second];
  return both.includes('integer') && both.includes('float') ? 'float' : 'mixed';
}

/** Merges fields by path; the first sample that is not undefined wins. */
export function mergeFields(lists: readonly (readonly EventField[])[]): EventField[] {
  const merged = new Map<string, EventField>();
  for (const { path, type, sample } of lists.flat()) {
    const known = merged.get(path);
    const first = known?.sample ?? sample;
    merged.set(path, {
      path,
      type: known ? mergeTypes(known.type, type) : type,
      ...(first === undefined ? {} : { sample: first }),
    });
  }
  return [...merged.values()].sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, MAX_FIELDS);
}
