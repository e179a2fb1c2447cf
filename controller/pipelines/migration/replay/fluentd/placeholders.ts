/** `${…}` in values of record_transformer and its like: what can be evaluated without Ruby. */
import { type FluentdEvent, NotInterpreted, textOf } from './event.ts';

const PLACEHOLDER = /\$\{((?:[^{}]|\{[^}]*\})*)\}/g;
const RECORD = /^record(?:\[(?:"[^"]*"|'[^']*')\])+$/;
const PARTS = /^tag_(parts|prefix|suffix)\[(-?\d+)\]$/;

/** A value that is one placeholder keeps its type; others are texts. */
export function expandText(text: string, event: FluentdEvent): unknown {
  const whole = /^\$\{((?:[^{}]|\{[^}]*\})*)\}$/.exec(text);
  if (whole) return evaluate(whole[1] ?? '', event) ?? null;
  return text.replaceAll(PLACEHOLDER, (_, expression: string) => textOf(evaluate(expression, event)));
}

export function expandValue(value: unknown, event: FluentdEvent): unknown {
  if (typeof value === 'string') return expandText(value, event);
  if (Array.isArray(value)) return value.map((item) => expandValue(item, event));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [textOf(expandText(key, event)), expandValue(item, event)]),
  );
}

function evaluate(written: string, { tag, record }: FluentdEvent): unknown {
  const expression = written.trim();
  if (expression === 'tag') return tag;
  const parts = PARTS.exec(expression);
  if (parts) return partOf(tag, parts[1] ?? '', Number(parts[2]));
  if (RECORD.test(expression)) {
    let at: unknown = record;
    for (const match of expression.matchAll(/\[(?:"([^"]*)"|'([^']*)')\]/g)) {
      const key = match[1] ?? match[2] ?? '';
      at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined;
    }
    return at;
  }
  if (expression === 'hostname') throw new NotInterpreted('the name of another machine (hostname)');
  if (expression === 'time')
    throw new NotInterpreted('a time as text, which is in the time zone of another machine (time)');
  throw new NotInterpreted(`Ruby: \${${expression.slice(0, 80)}}`);
}

function partOf(tag: string, which: string, index: number): string | undefined {
  const parts = tag.split('.');
  const at = index < 0 ? parts.length + index : index;
  if (which === 'parts') return parts[at];
  return which === 'prefix' ? parts.slice(0, at + 1).join('.') : parts.slice(at).join('.');
}
