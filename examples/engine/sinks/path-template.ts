import { isAbsolute, normalize, resolve, sep } from 'node:path';
import type { LogEvent } from '../event.ts';
import { Template } from '../templates/template.ts';

export interface PathTemplateOptions {
  baseDir?: string | undefined;
  unconfined?: boolean;
  offset?: ((now: Date) => number) | undefined;
}

/** A file path with `{{ field }}` values and strftime times, as in `/var/log/%Y-%m-%d/{{ host }}.log`. */
export class PathTemplate {
  readonly #template: Template;
  readonly #baseDir: string | undefined;
  readonly #unconfined: boolean;

  /**
   * Throws an Error with a text for the user if the text is no template. `unconfined` lets values of events lead
   * out of the directory; they still never hold a separator.
   */
  constructor(text: string, { baseDir, unconfined = false, offset }: PathTemplateOptions = {}) {
    this.#template = new Template(text, offset);
    this.#unconfined = unconfined;
    this.#baseDir = baseDir;
  }

  /** Why nothing keeps the files inside one directory; empty where something does. */
  get confinementErrors(): string[] {
    if (!this.isDynamic || this.#unconfined || this.#baseDir !== undefined) return [];
    const { literalPrefix, fields } = this.#template;
    const directory = literalPrefix.slice(0, literalPrefix.lastIndexOf('/') + 1);
    const remedy =
      'Set `base_dir` explicitly, or set `dangerously_allow_unconfined_template_resolution: true` to opt out of path confinement (not recommended).';
    if (directory === '') {
      return [
        `path template references event fields (${JSON.stringify(fields).replaceAll(',', ', ')}) but has no literal directory prefix to derive a base directory from. ${remedy}`,
      ];
    }
    if (/^\/+$/.test(directory)) {
      return [
        `path template has only "/" as its literal directory prefix (from ${JSON.stringify(literalPrefix)}), which would permit writes anywhere on the filesystem. ${remedy}`,
      ];
    }
    return [];
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
