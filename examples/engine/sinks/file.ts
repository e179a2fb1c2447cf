import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ComponentContext, Globals, RunningSink, Sink } from '../component.ts';
import type { OptionReader } from '../config/option-reader.ts';
import type { Batch, LogEvent } from '../event.ts';
import { type Encode, readEncoding } from './encoding.ts';
import { PathTemplate } from './path-template.ts';

/** `file`: appends a line per event to the file that the path template gives. */
export function configureFileSink(options: OptionReader, globals: Globals): Sink {
  const path = options.requiredString('path');
  const baseDir = options.string('base_dir');
  const encode = readEncoding(options, globals.logSchema.message);
  options.oneOf('compression', ['none'], 'none');
  const idleMs = options.number('idle_timeout_secs', 30, 0.1) * 1000;
  options.finish();
  let template: PathTemplate;
  try {
    template = new PathTemplate(path, baseDir);
  } catch (error) {
    options.fail((error as Error).message);
  }
  return {
    accepts: template.isDynamic ? ['log'] : ['log', 'metric'],
    resources: [],
    start: async (context) => new FileWriter(context, template, encode, idleMs),
  };
}

const MAX_OPEN_FILES = 100;

interface OpenFile {
  handle: FileHandle;
  /** Milliseconds of `performance.now()`. */
  usedAt: number;
}

class FileWriter implements RunningSink {
  readonly #context: ComponentContext;
  readonly #template: PathTemplate;
  readonly #encode: Encode;
  readonly #idleMs: number;
  /** In the order of last use. */
  readonly #files = new Map<string, OpenFile>();

  constructor(context: ComponentContext, template: PathTemplate, encode: Encode, idleMs: number) {
    this.#context = context;
    this.#template = template;
    this.#encode = encode;
    this.#idleMs = idleMs;
  }

  async write(batch: Batch): Promise<number> {
    const { log, metrics } = this.#context;
    const now = new Date();
    const byPath = new Map<string, string[]>();
    let refused = 0;
    for (const [index, event] of batch.events.entries()) {
      const path = this.#template.render(event as LogEvent, now);
      if (path === undefined) {
        refused += 1;
        continue;
      }
      const lines = byPath.get(path);
      const line = `${this.#encode(batch, index)}\n`;
      if (lines) lines.push(line);
      else byPath.set(path, [line]);
    }
    if (refused > 0) {
      metrics.error('template_failed', 'processing', refused);
      metrics.discarded(refused, false);
      log.limited(
        'error',
        'Failed to render template for "path": a field is missing or would leave the directory.',
      );
    }
    let failed = 0;
    for (const [path, lines] of byPath) failed += await this.#append(path, lines);
    await this.#closeIdle();
    return refused + failed;
  }

  async close(): Promise<void> {
    for (const { handle } of this.#files.values()) await handle.close();
    this.#files.clear();
  }

  /** Gives the number of lines that could not be written. */
  async #append(path: string, lines: string[]): Promise<number> {
    const { log, metrics } = this.#context;
    const text = lines.join('');
    try {
      const { handle } = await this.#open(path);
      await handle.appendFile(text);
      metrics.wireBytes('sent', 'file').value += Buffer.byteLength(text);
      return 0;
    } catch (error) {
      metrics.error('io_failed', 'sending');
      metrics.discarded(lines.length, false);
      log.limited('error', 'Failed to write to file.', { path, error: (error as Error).message });
      return lines.length;
    }
  }

  async #open(path: string): Promise<OpenFile> {
    const known = this.#files.get(path);
    if (known) {
      known.usedAt = performance.now();
      this.#files.delete(path);
      this.#files.set(path, known);
      return known;
    }
    await mkdir(dirname(path), { recursive: true });
    const file = { handle: await open(path, 'a'), usedAt: performance.now() };
    this.#files.set(path, file);
    return file;
  }

  async #closeIdle(): Promise<void> {
    const limit = performance.now() - this.#idleMs;
    for (const [path, { handle, usedAt }] of this.#files) {
      if (usedAt > limit && this.#files.size <= MAX_OPEN_FILES) return;
      this.#files.delete(path);
      await handle.close();
    }
  }
}
