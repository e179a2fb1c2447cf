import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { extname } from 'node:path';
import { parseDocument } from 'yaml';
import type { ConfigFormat, ConfigPath } from '../cli.ts';
import { systemErrorText } from '../system-error.ts';
import { ConfigError, collectErrors } from './config-error.ts';
import { interpolate } from './interpolate.ts';
import { type MergedConfig, mergeConfigs } from './merge.ts';
import { isTable, type Table } from './table.ts';

/** What Vector reads where no file is named. */
const DEFAULT_CONFIG = '/etc/vector/vector.yaml';
const MAX_FILE_BYTES = 16 * 1024 * 1024;

export interface LoadOptions {
  paths: readonly ConfigPath[];
  interpolate: boolean;
  env: Record<string, string | undefined>;
  /** Called for files that cannot be opened: like Vector, the others are loaded without them. */
  onSkipped(path: string, reason: string): void;
}

/** A file that is not there; Vector only logs it, whatever else is wrong. */
export class ConfigFileMissing extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`Config file not found in path. path=${JSON.stringify(path)}`);
    this.path = path;
  }
}

/** Sorted and without repeats, the order in which Vector reads and reports files. */
export function sortedPaths(paths: readonly ConfigPath[]): ConfigPath[] {
  const given = paths.length > 0 ? paths : [{ path: DEFAULT_CONFIG }];
  const byPath = new Map(given.map((item) => [item.path, item]));
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Reads, expands, parses and joins the files. Throws ConfigError with everything that is wrong. */
export function loadConfigs(options: LoadOptions): MergedConfig {
  const paths = sortedPaths(options.paths);
  const env = { HOSTNAME: hostname(), ...options.env };
  const tables: Table[] = [];
  collectErrors(
    paths.map((item) => () => {
      const text = readConfig(item.path, options.onSkipped);
      if (text === undefined) return;
      const format = item.format ?? formatOf(item.path);
      tables.push(parseConfig(options.interpolate ? interpolate(text, env) : text, format));
    }),
  );
  return mergeConfigs(tables);
}

/** Parses one file's text. Errors carry line and column, and never an excerpt: it may hold an expanded secret. */
export function parseConfig(text: string, format: ConfigFormat): Table {
  const document = parseDocument(text, { merge: true, prettyErrors: true, strict: true });
  const error = document.errors[0];
  if (error) {
    const [position] = error.linePos ?? [];
    const message = error.message.split(/ at line \d+/)[0]!.split('\n')[0]!;
    throw new ConfigError(position ? `${message} at line ${position.line} column ${position.col}` : message);
  }
  let value: unknown;
  try {
    value = format === 'json' ? JSON.parse(text) : document.toJS();
  } catch (cause) {
    throw new ConfigError(
      format === 'json' ? 'The text is not JSON.' : String((cause as Error).message).split('\n')[0]!,
    );
  }
  if (value === null) return {};
  if (!isTable(value)) throw new ConfigError('invalid type: expected a map at the top of the file');
  return value;
}

function readConfig(path: string, onSkipped: LoadOptions['onSkipped']): string | undefined {
  try {
    if (statSync(path).size > MAX_FILE_BYTES) {
      throw new ConfigError(`Config file is larger than ${MAX_FILE_BYTES} bytes. path="${path}"`);
    }
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new ConfigFileMissing(path);
    onSkipped(path, systemErrorText(error as NodeJS.ErrnoException));
    return undefined;
  }
}

function formatOf(path: string): ConfigFormat {
  const extension = extname(path);
  if (extension === '.yaml' || extension === '.yml') return 'yaml';
  if (extension === '.json') return 'json';
  throw new ConfigError(`Only .yaml, .yml and .json files can be read; use --config-yaml for "${path}"`);
}
