import { isAbsolute, normalize, resolve, sep } from 'node:path';
import type { LogEvent } from '../event.ts';
import { Template } from '../template.ts';

/** A file path with `{{ field }}` values and strftime times, as in `/var/log/%Y-%m-%d/{{ host }}.log`. */
export class PathTemplate {
  readonly #template: Template;
  readonly #baseDir: string | undefined;

  /** Throws an Error with a text for the user if the template cannot be kept inside one directory. */
  constructor(text: string, baseDir?: string) {
    this.#template = new Template(text);
    this.#baseDir = baseDir;
    if (this.isDynamic && !this.#template.startsLiteral && baseDir === undefined) {
      throw new Error(
        `the template \`${text}\` has no literal string prefix; start it with a directory or set \`base_dir\``,
      );
    }
  }

  get isDynamic(): boolean {
    return this.#template.isDynamic;
  }

  /** The path for an event, or undefined when a field is missing or its value would leave the directory. */
  render(event: LogEvent, now: Date): string | undefined {
    const path = this.#template.render(event, now, isSafeSegment);
    if (path === undefined || this.#baseDir === undefined) return path;
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
