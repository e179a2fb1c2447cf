import { statSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { component, type Source, type SourceContext } from '../component.ts';
import { defaulted, optional, required } from '../config/options.ts';
import { flag, integer, list, number, text, variants } from '../config/shape.ts';
import { dataDirErrors } from '../data-dir.ts';
import { type LogEvent, logBatch, Timestamp } from '../event.ts';
import { Checkpoints } from './checkpoints.ts';
import { nameFilter } from './name-filter.ts';
import { pause, yieldTurn } from './pace.ts';
import { type Line, TailedFile } from './tailed-file.ts';

interface FileOptions {
  include: string[];
  exclude: string[];
  fromBeginning: boolean;
  ignoreCheckpoints: boolean;
  ignoreOlderMs: number;
  maxLineBytes: number;
  lineDelimiter: string;
  scanIntervalMs: number;
  dataDir: string | undefined;
  fileKey: string;
  hostKey: string;
  offsetKey: string | undefined;
}

export const file = component({
  title: 'File',
  about:
    'Follows the files that match `include`, through appends, truncation and rotation, and over restarts.',
  options: {
    include: required(list(text, { minItems: 1 }), 'The files to read, as paths and globs.', {
      examples: [['/var/log/**/*.log']],
    }),
    exclude: defaulted(list(text), [], 'Files to leave out, as globs over the whole path.', {
      examples: [['/var/log/binary-file.log']],
    }),
    read_from: defaulted(
      variants({
        beginning: 'Reads what a file holds already.',
        end: 'Starts with what is appended.',
      }),
      'beginning',
      'Where to begin in a file that has no checkpoint.',
    ),
    ignore_checkpoints: defaulted(flag, false, 'Starts over, wherever the last run had come to.', {
      advanced: true,
    }),
    ignore_older_secs: optional(
      number({ minimum: 0 }),
      'Leaves out files that were not changed for longer.',
      {
        unit: 'seconds',
        examples: [600],
      },
    ),
    max_line_bytes: defaulted(integer({ minimum: 1 }), 102_400, 'Longer lines are left out.', {
      unit: 'bytes',
    }),
    line_delimiter: defaulted(text, '\n', 'What ends a line.', { examples: ['\r\n'] }),
    glob_minimum_cooldown_ms: defaulted(
      integer({ minimum: 10 }),
      1000,
      'The time between two looks for files.',
      {
        unit: 'milliseconds',
        advanced: true,
      },
    ),
    data_dir: optional(text, 'Where checkpoints are kept, instead of the global `data_dir`.', {
      examples: ['/var/local/lib/vector/'],
      advanced: true,
    }),
    file_key: defaulted(text, 'file', "The field for the file's path. An empty one adds none.", {
      examples: ['path'],
    }),
    host_key: optional(text, "The field for the host's name; `log_schema.host_key` where it is left out.", {
      examples: ['hostname'],
    }),
    offset_key: optional(text, "The field for the line's place in the file. Without it, none is added.", {
      examples: ['offset'],
    }),
  },
  lacking: [
    'encoding',
    'fingerprint',
    'internal_metrics',
    'log_namespace',
    'max_read_bytes',
    'message_start_indicator',
    'multi_line_timeout',
    'multiline',
    'oldest_first',
    'remove_after_secs',
    'rotate_wait_secs',
  ],
  configure(values, globals): Source {
    const read: FileOptions = {
      include: values.include,
      exclude: values.exclude,
      fromBeginning: values.read_from === 'beginning',
      ignoreCheckpoints: values.ignore_checkpoints,
      ignoreOlderMs: (values.ignore_older_secs ?? Number.POSITIVE_INFINITY) * 1000,
      maxLineBytes: values.max_line_bytes,
      lineDelimiter: values.line_delimiter || '\n',
      scanIntervalMs: values.glob_minimum_cooldown_ms,
      dataDir: values.data_dir,
      fileKey: values.file_key,
      hostKey: values.host_key ?? globals.logSchema.host,
      offsetKey: values.offset_key,
    };
    return {
      output: 'log',
      check: ({ dataDir }) => dataDirErrors(read.dataDir ?? dataDir),
      run: (context) => new FileReader(context, read).run(),
    };
  },
});

const READ_BYTES = 128 * 1024;
const SAVE_INTERVAL_MS = 1_000;
const IDLE_MIN_MS = 20;
const IDLE_MAX_MS = 250;
/** Files held open at a time; more than these wait until one is gone. */
const MAX_OPEN_FILES = 500;

class FileReader {
  readonly #context: SourceContext;
  readonly #options: FileOptions;
  readonly #checkpoints: Checkpoints;
  readonly #files = new Map<string, { file: TailedFile; gone: boolean }>();
  readonly #wanted: (path: string) => boolean;
  #firstScan = true;

  constructor(context: SourceContext, options: FileOptions) {
    this.#context = context;
    this.#options = options;
    this.#checkpoints = new Checkpoints(join(options.dataDir ?? context.globals.dataDir, context.id));
    this.#wanted = nameFilter(['*'], options.exclude);
  }

  async run(): Promise<void> {
    const { signal } = this.#context;
    let nextScan = 0;
    let nextSave = SAVE_INTERVAL_MS;
    let idleMs = IDLE_MIN_MS;
    this.#checkpoints.load();
    try {
      while (!signal.aborted) {
        if (performance.now() >= nextScan) {
          await this.#scan();
          nextScan = performance.now() + this.#options.scanIntervalMs;
        }
        const more = await this.#readAll();
        if (performance.now() >= nextSave) {
          this.#save();
          nextSave = performance.now() + SAVE_INTERVAL_MS;
        }
        idleMs = more ? IDLE_MIN_MS : Math.min(IDLE_MAX_MS, idleMs * 2);
        await (more ? yieldTurn() : pause(idleMs, signal));
      }
    } finally {
      this.#save();
      for (const { file } of this.#files.values()) file.close();
    }
  }

  /** Opens new files and notes which ones are no longer at a wanted path. */
  async #scan(): Promise<void> {
    const present = new Set<string>();
    for (const pattern of this.#options.include) {
      for await (const path of /[*?[{]/.test(pattern) ? glob(pattern) : [pattern]) {
        const identity = this.#wanted(path) ? this.#identify(path) : undefined;
        if (identity === undefined || present.has(identity)) continue;
        present.add(identity);
        const known = this.#files.get(identity);
        if (known) known.file.path = path;
        else this.#open(path);
      }
    }
    for (const [identity, entry] of this.#files) entry.gone = !present.has(identity);
    this.#firstScan = false;
  }

  #identify(path: string): string | undefined {
    try {
      const stat = statSync(path);
      // Opening a named pipe would block the process.
      if (!stat.isFile() || Date.now() - stat.mtimeMs > this.#options.ignoreOlderMs) return undefined;
      return `${stat.dev}:${stat.ino}`;
    } catch {
      return undefined;
    }
  }

  #open(path: string): void {
    const { log, metrics } = this.#context;
    if (this.#files.size >= MAX_OPEN_FILES) {
      log.limited('warn', 'Too many files; some wait until others are gone.', {
        limit: MAX_OPEN_FILES,
        file: path,
      });
      return;
    }
    let file: TailedFile;
    try {
      file = new TailedFile(path, this.#options.lineDelimiter, this.#options.maxLineBytes);
    } catch (error) {
      metrics.error('reader_failed', 'receiving');
      log.limited('error', 'Failed to open file.', { file: path, error: (error as Error).message });
      return;
    }
    const stored = this.#options.ignoreCheckpoints ? undefined : this.#checkpoints.get(file.identity);
    if (stored && file.resume(stored)) {
      log.info('Resuming to watch file.', { file: path, file_position: file.position });
    } else {
      // A file that appears while the source runs is new: `read_from: end` is about those found at the start.
      if (!this.#options.fromBeginning && this.#firstScan) file.skipToEnd();
      log.info('Found new file to watch.', { file: path });
    }
    this.#files.set(file.identity, { file, gone: false });
  }

  /** One round over all files; true if some have more to read. */
  async #readAll(): Promise<boolean> {
    const { log, metrics, signal } = this.#context;
    const receivedBytes = metrics.wireBytes('received', 'file');
    let more = false;
    for (const [identity, { file, gone }] of this.#files) {
      if (signal.aborted) return false;
      const result = file.read(READ_BYTES);
      receivedBytes.value += result.bytes;
      if (result.truncated)
        log.info('File was truncated or rewritten; reading it from the start.', { file: file.path });
      if (result.tooLong > 0) {
        metrics.discarded(result.tooLong, false);
        metrics.error('reader_failed', 'receiving', result.tooLong);
        log.limited('warn', 'Found line that exceeds max_line_bytes; discarding.', { file: file.path });
      }
      more ||= !result.atEnd;
      if (gone && result.atEnd) {
        const rest = file.takeRest();
        if (rest) result.lines.push(rest);
      }
      if (result.lines.length > 0) await this.#send(file.path, result.lines);
      if (result.bytes > 0 || result.truncated) this.#checkpoints.set(file.checkpoint(Date.now()));
      if (gone && result.atEnd) {
        file.close();
        this.#files.delete(identity);
        log.info('Stopped watching file.', { file: file.path });
      }
    }
    return more;
  }

  #send(path: string, lines: Line[]): Promise<void> {
    const { globals, send } = this.#context;
    const { fileKey, hostKey, offsetKey } = this.#options;
    const keys = globals.logSchema;
    const timestamp = Timestamp.now();
    return send(
      logBatch(
        lines.map(({ text, offset }) => {
          const event: LogEvent = {};
          if (fileKey) event[fileKey] = path;
          if (hostKey) event[hostKey] = globals.hostname;
          event[keys.message] = text;
          if (offsetKey) event[offsetKey] = offset;
          event[keys.sourceType] = 'file';
          event[keys.timestamp] = timestamp;
          return event;
        }),
      ),
    );
  }

  #save(): void {
    try {
      this.#checkpoints.save(Date.now());
    } catch (error) {
      this.#context.metrics.error('writer_failed', 'receiving');
      this.#context.log.limited('error', 'Failed writing checkpoints.', { error: (error as Error).message });
    }
  }
}
