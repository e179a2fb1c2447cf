import { type LogEvent, Timestamp } from '../event.ts';
import { type FieldPath, fieldAt, parseFieldPath } from './field-path.ts';
import { isStrftime, strftime } from './strftime.ts';

type Part = { literal: string } | { field: FieldPath; name: string };

/** A text with `{{ field }}` values and strftime times, as in `{{ service }}-%Y-%m-%d`. */
export class Template {
  readonly #parts: Part[];
  readonly #offset: ((now: Date) => number) | undefined;

  /**
   * `offset` gives the minutes that local time is ahead of UTC; without it times are in UTC.
   * Throws an Error with a text for the user if a placeholder is no field or a time is no strftime.
   */
  constructor(text: string, offset?: (now: Date) => number) {
    this.#parts = parse(text);
    this.#offset = offset;
  }

  get isDynamic(): boolean {
    return this.#parts.some((part) => 'field' in part);
  }

  /** What every rendered text begins with: all before the first field or time. */
  get literalPrefix(): string {
    const [first] = this.#parts;
    return first && 'literal' in first ? first.literal.split('%')[0]! : '';
  }

  /** The fields as they are written. */
  get fields(): string[] {
    return this.#parts.flatMap((part) => ('field' in part ? [part.name] : []));
  }

  /** The text for an event, or undefined when a field is missing, is no plain value, or is not accepted. */
  render(event: LogEvent, now: Date, accept: (value: string) => boolean = () => true): string | undefined {
    let text = '';
    for (const part of this.#parts) {
      if ('literal' in part) {
        text += strftime(part.literal, now, this.#offset?.(now) ?? 0);
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
    if (!piece.startsWith('{{')) {
      if (!isStrftime(piece)) throw new Error('Invalid strftime item');
      return piece === '' ? [] : [{ literal: piece }];
    }
    const name = piece.slice(2, -2).trim();
    const field = parseFieldPath(name);
    if (!field) throw new Error(`Invalid field path in template ${JSON.stringify(name)}`);
    return [{ field, name }];
  });
}

function plainText(value: unknown): string | undefined {
  if (value instanceof Timestamp) return value.text;
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
