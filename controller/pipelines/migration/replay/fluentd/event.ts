/** An event as Fluentd has it, and what is known of it here. */
export interface FluentdEvent {
  tag: string;
  /** Milliseconds since 1970. Null where it is the time of arrival, or depends on the time zone of a machine. */
  time: number | null;
  record: Record<string, unknown>;
}

/** Thrown for what this interpreter does not know: it guesses nothing. */
export class NotInterpreted extends Error {}

/** The text of a value inside of another text, as Ruby's `to_s`. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'object')
    throw new NotInterpreted('an object or a list inside of a text is written as Ruby does');
  return String(value);
}
