import { isAbsolute, normalize, resolve, sep } from 'node:path';
import { isTable } from '../config/option-reader.ts';
import { type LogEvent, Timestamp } from '../event.ts';

type Part = { literal: string } | { field: string[] };

/** A file path with `{{ field }}` values and strftime times, as in `/var/log/%Y-%m-%d/{{ host }}.log`. */
export class PathTemplate {
  readonly #parts: Part[];
  readonly #baseDir: string | undefined;

  /** Throws an Error with a text for the user if the template cannot be kept inside one directory. */
  constructor(text: string, baseDir?: string) {
    this.#parts = parse(text);
    this.#baseDir = baseDir;
    const first = this.#parts[0];
    const startsLiteral = first !== undefined && 'literal' in first && first.literal !== '';
    if (this.isDynamic && !startsLiteral && baseDir === undefined) {
      throw new Error(
        `the template \`${text}\` has no literal string prefix; start it with a directory or set \`base_dir\``,
      );
    }
  }

  get isDynamic(): boolean {
    return this.#parts.some((part) => 'field' in part);
  }

  /** The path for an event, or undefined when a field is missing or its value would leave the directory. */
  render(event: LogEvent, now: Date): string | undefined {
    let path = '';
    for (const part of this.#parts) {
      if ('literal' in part) {
        path += strftime(part.literal, now);
        continue;
      }
      const value = fieldText(event, part.field);
      if (value === undefined || !isSafeSegment(value)) return undefined;
      path += value;
    }
    if (this.#baseDir === undefined) return path;
    const base = resolve(this.#baseDir);
    const full = isAbsolute(path) ? normalize(path) : resolve(base, path);
    return full.startsWith(base + sep) ? full : undefined;
  }
}

const MAX_SEGMENT = 200;

/** Values come from events, so from strangers: no separators, no dots alone, nothing odd or endless. */
function isSafeSegment(value: string): boolean {
  return value !== '' && value.length <= MAX_SEGMENT && !/^\.+$/.test(value) && !/[/\\\x00-\x1f]/.test(value);
}

function parse(text: string): Part[] {
  return text.split(/(\{\{[^}]*\}\})/).flatMap((piece): Part[] => {
    const field = /^\{\{\s*\.?([\w.@-]+)\s*\}\}$/.exec(piece)?.[1];
    if (field !== undefined) return [{ field: field.split('.') }];
    if (piece.startsWith('{{')) throw new Error(`Invalid field "${piece}" in template`);
    return piece === '' ? [] : [{ literal: piece }];
  });
}

function fieldText(event: LogEvent, path: string[]): string | undefined {
  let value: unknown = event;
  for (const name of path) value = isTable(value) ? value[name] : undefined;
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
