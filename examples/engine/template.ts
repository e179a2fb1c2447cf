import { type LogEvent, Timestamp } from './event.ts';
import { type FieldPath, fieldAt, parseFieldPath } from './field-path.ts';

type Part = { literal: string } | { field: FieldPath };

/** A text with `{{ field }}` values and strftime times, as in `{{ service }}-%Y-%m-%d`. */
export class Template {
  readonly #parts: Part[];

  /** Throws an Error with a text for the user if a placeholder is no field. */
  constructor(text: string) {
    this.#parts = parse(text);
  }

  get isDynamic(): boolean {
    return this.#parts.some((part) => 'field' in part);
  }

  get startsLiteral(): boolean {
    const first = this.#parts[0];
    return first !== undefined && 'literal' in first;
  }

  /** The text for an event, or undefined when a field is missing, is no plain value, or is not accepted. */
  render(event: LogEvent, now: Date, accept: (value: string) => boolean = () => true): string | undefined {
    let text = '';
    for (const part of this.#parts) {
      if ('literal' in part) {
        text += strftime(part.literal, now);
        continue;
      }
      const value = plainText(fieldAt(event, part.field));
      if (value === undefined || !accept(value)) return undefined;
      text += value;
    }
    return text;
  }
}

function parse(text: string): Part[] {
  return text.split(/(\{\{[^}]*\}\})/).flatMap((piece): Part[] => {
    if (!piece.startsWith('{{')) return piece === '' ? [] : [{ literal: piece }];
    const field = parseFieldPath(piece.slice(2, -2).trim());
    if (!field) throw new Error(`Invalid field "${piece}" in template`);
    return [{ field }];
  });
}

function plainText(value: unknown): string | undefined {
  if (value instanceof Timestamp) return value.text;
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** The usual date and time signs of strftime, in UTC; others stay as they are. */
function strftime(text: string, now: Date): string {
  if (!text.includes('%')) return text;
  const iso = now.toISOString();
  const values: Record<string, string> = {
    Y: iso.slice(0, 4),
    m: iso.slice(5, 7),
    d: iso.slice(8, 10),
    H: iso.slice(11, 13),
    M: iso.slice(14, 16),
    S: iso.slice(17, 19),
    F: iso.slice(0, 10),
    T: iso.slice(11, 19),
    s: String(Math.floor(now.getTime() / 1000)),
    '%': '%',
  };
  return text.replace(/%([YmdHMSFTs%])/g, (_match, sign: string) => values[sign]!);
}
