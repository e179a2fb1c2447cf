/** The fields of sampled events: as one node tells of them, and put together from several tellings. */
import type { EventField, EventFieldType } from '../../../schemas/agent/protocol.ts';
import { boundEvent, boundText } from './bounded-event.ts';
import type { Redactor } from './redact.ts';

const PATH_CHARS = 1_024;
const SAMPLE_CHARS = 200;
/** Of one component. */
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

/** With no value of a hidden key, and nothing that cannot be kept. A path comes once. */
export function retainedFields(fields: readonly EventField[], redactor: Redactor): EventField[] {
  const kept = new Map<string, EventField>();
  for (const { path: given, type, sample } of fields.slice(0, MAX_FIELDS)) {
    const path = boundText(given, PATH_CHARS - 1);
    if (path === '' || kept.has(path)) continue;
    const shown = keysOfPath(path).some(redactor.hides) ? undefined : shownSample(sample, redactor);
    kept.set(path, { path, type, ...(shown === undefined ? {} : { sample: shown }) });
  }
  return [...kept.values()];
}

/** Short values only: an object or a list has fields of its own. */
function shownSample(sample: unknown, redactor: Redactor): unknown {
  if (sample === undefined || (typeof sample === 'object' && sample !== null)) return undefined;
  // Redacted before it is cut: half a text could hide what it is.
  const whole = redactor.value(boundEvent(sample, PATH_CHARS * 16));
  return typeof whole === 'string' ? boundText(whole, SAMPLE_CHARS) : whole;
}

export function mergeTypes(one: EventFieldType, other: EventFieldType): EventFieldType {
  if (one === other || other === 'null') return one;
  if (one === 'null') return other;
  const both = [one, other];
  return both.includes('integer') && both.includes('float') ? 'float' : 'mixed';
}

/** All fields that any of the lists has, by path. The first sample that is not null stands. */
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
