import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ComponentContext, component, type RunningSink, type Sink } from '../component.ts';
import { timezone } from '../config/global-options.ts';
import { defaulted, optional, required } from '../config/options.ts';
import { refusal } from '../config/refusals.ts';
import { flag, number, text, variants } from '../config/shape.ts';
import type { Batch, LogEvent } from '../event.ts';
import { offsetIn } from '../templates/time-zone.ts';
import { type Encode, encoderOf, encoding } from './encoding.ts';
import { PathTemplate, type PathTemplateOptions } from './path-template.ts';

export const fileSink = component({
  title: 'File',
  about: 'Appends a line for each event to the file that the path gives.',
  options: {
    path: required(
      text,
      'The file. It may hold times and fields of the event, and begins with a fixed part.',
      {
        examples: ['/tmp/vector-%Y-%m-%d.log', '/tmp/{{ service }}.log'],
      },
    ),
    base_dir: optional(text, 'The directory that no file may leave.', { examples: ['/var/log/events'] }),
    timezone: optional(timezone, 'The time zone of the times; the global `timezone` where it is left out.', {
      advanced: true,
    }),
    dangerously_allow_unconfined_template_resolution: defaulted(
      flag,
      false,
      'Lets values of events lead to any directory.',
      { advanced: true },
    ),
    encoding,
    compression: defaulted(
      variants({ none: 'As it is.' }, ['gzip', 'zstd']),
      'none',
      'How files are compressed.',
      {
        advanced: true,
      },
    ),
    idle_timeout_secs: defaulted(
      number({ minimum: 0.1 }),
      30,
      'Closes a file that was not written to for longer.',
      {
        unit: 'seconds',
        advanced: true,
      },
    ),
  },
  lacking: ['framing', 'internal_metrics', 'truncate'],
  configure(values, { logSchema, timezone: globalZone }, path): Sink {
    const encode = encoderOf(values.encoding, logSchema.message);
    const template = templateOf(
      values.path,
      {
        baseDir: values.base_dir,
        unconfined: values.dangerously_allow_unconfined_template_resolution,
        offset: offsetIn(values.timezone ?? globalZone),
      },
      path,
    );
    return {
      accepts: template.isDynamic ? ['log'] : ['log', 'metric'],
      resources: [],
      check: () => template.confinementErrors,
      start: async (context) => new FileWriter(context, template, encode, values.idle_timeout_secs * 1000),
    };
  },
});

function templateOf(text: string, options: PathTemplateOptions, path: string): PathTemplate {
  try {
    return new PathTemplate(text, options);
  } catch (error) {
    throw refusal((error as Error).message, path);
  }
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
