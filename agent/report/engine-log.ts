/**
 * Reads an engine's log as records: a line with a time and a level begins one, lines without belong to the one before (an
 * error in a VRL program spans many). Both forms are read, the text on stderr and the JSON on stdout.
 */
import { shortVrlError } from './vrl-error.ts';

export type Level = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';

export interface EngineComponent {
  kind: 'source' | 'transform' | 'sink';
  id: string;
}

export interface LogRecord {
  level: Level;
  /** The module that wrote it, such as `vector::topology::builder`; empty where it is not named. */
  target: string;
  message: string;
  /** The value of `error`, without the quotes that a debug form has. */
  error?: string;
  path?: string;
  /** `mode` of a socket: tcp or udp. */
  mode?: string;
  component?: EngineComponent;
}

/** Characters of one record with its continuation lines. */
const RECORD_CHARS = 8_192;

const TEXT_LINE = /^\d{4}-\d\d-\d\dT[\d:.]+Z +(TRACE|DEBUG|INFO|WARN|ERROR) (.*)$/s;
/** How a line begins that is a record of its own. */
export const RECORD = /^\d{4}-\d\d-\d\dT[\d:.]+Z +(?:TRACE|DEBUG|INFO|WARN|ERROR) /;
const JSON_LINE = /^\{"timestamp":"\d{4}-\d\d-\d\dT/;
const PANIC_LINE = /^thread '.*' (?:\(\d+\) )?panicked at /;

/** One engine's output, line by line. Each record is passed on as soon as it is whole. */
export class RecordReader {
  readonly #onRecord: (record: LogRecord) => void;
  #text: string | undefined;
  #panic: string | undefined;

  constructor(onRecord: (record: LogRecord) => void) {
    this.#onRecord = onRecord;
  }

  add(line: string, from: 'stdout' | 'stderr'): void {
    if (JSON_LINE.test(line)) {
      const record = readJson(line);
      if (!record) return;
      this.#end();
      this.#onRecord(record);
      return;
    }
    // What else a program prints there are the events of a `console` sink.
    if (from === 'stdout') return;
    if (TEXT_LINE.test(line)) {
      this.#end();
      this.#text = line;
    } else if (PANIC_LINE.test(line)) {
      this.#end();
      this.#panic = line;
    } else if (this.#panic !== undefined) this.#panic = joined(this.#panic, line);
    else if (this.#text !== undefined) this.#text = joined(this.#text, line);
    else this.#text = line;
  }

  /** The record that more lines may belong to. */
  pending(): LogRecord[] {
    if (this.#text !== undefined) return [readText(this.#text)];
    return this.#panic === undefined ? [] : [readPanic(this.#panic)];
  }

  #end(): void {
    for (const record of this.pending()) this.#onRecord(record);
    this.#text = undefined;
    this.#panic = undefined;
  }
}

function joined(text: string, line: string): string {
  return text.length + line.length < RECORD_CHARS ? `${text}\n${line}` : text;
}

/** Fields at the end of a text line that are reported elsewhere or are of no use to a user. */
const LAST_FIELD =
  /\s(internal_log_rate_limit|error_code|error_type|stage|mode|path|component_kind|component_type|component_id)=("(?:[^"\\]|\\.)*"|[^\s"]*)$/;
const TARGET = /(?:^|: )((?:\w+::)+\w+|vector): /;

function readText(text: string): LogRecord {
  const line = TEXT_LINE.exec(text);
  // Before the log begins, and from other programs: what the shell or the command line's parser complains of.
  if (!line) return { level: 'ERROR', target: '', message: text };
  const [, level, rest = ''] = line;
  const found = TARGET.exec(rest);
  const spans = found ? rest.slice(0, found.index) : '';
  let body = found ? rest.slice(found.index + found[0].length) : rest;
  const fields: Record<string, string> = {};
  for (let field = LAST_FIELD.exec(body); field; field = LAST_FIELD.exec(body)) {
    fields[field[1] ?? ''] = unquoted(field[2] ?? '');
    body = body.slice(0, field.index).trimEnd();
  }
  const at = body.search(/(?:^|\s)error=/);
  const error = at === -1 ? undefined : body.slice(body.indexOf('error=', at) + 'error='.length);
  const message = (at === -1 ? body : body.slice(0, at)).replace(/^components="[^"]*" /, '');
  const { path, mode } = fields;
  return {
    level: level as Level,
    target: found?.[1] ?? '',
    message: message.startsWith('msg=') ? unquoted(message.slice(4)) : message,
    error: error === undefined ? undefined : unquoted(error.trim()),
    path,
    mode,
    component: componentOf(fields.component_kind, fields.component_id) ?? componentOfSpans(spans),
  };
}

const SPAN_ID = /component_id=(?:"((?:[^"\\]|\\.)*)"|(.*?))(?= component_\w+=|\})/;

function componentOfSpans(spans: string): EngineComponent | undefined {
  const id = SPAN_ID.exec(spans);
  const kind = /component_kind="?(\w+)/.exec(spans)?.[1];
  return id ? componentOf(kind, id[1] ?? id[2]) : undefined;
}

function componentOf(kind: unknown, id: unknown): EngineComponent | undefined {
  if (typeof id !== 'string' || id === '') return undefined;
  return kind === 'source' || kind === 'transform' || kind === 'sink' ? { kind, id } : undefined;
}

function readPanic(text: string): LogRecord {
  const [first = '', ...rest] = text.split('\n');
  const place = first.slice(first.indexOf('panicked at ') + 'panicked at '.length).replace(/:$/, '');
  const reason = rest.filter((line) => !line.startsWith('note: ')).join(' ');
  return { level: 'ERROR', target: 'panic', message: `panicked: ${reason} (${place})` };
}

const LEVELS = new Set<string>(['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR']);

/** Undefined for an event that a sink printed. */
function readJson(line: string): LogRecord | undefined {
  let json: Record<string, unknown>;
  try {
    json = JSON.parse(line);
  } catch {
    return undefined;
  }
  // One line has `level` twice; the second is in quotes and lower case.
  const level = unquoted(text(json.level) ?? '').toUpperCase();
  const target = text(json.target);
  if (!LEVELS.has(level) || target === undefined) return undefined;
  const spans = Array.isArray(json.spans) ? json.spans : [];
  const error = text(json.error);
  const path = text(json.path);
  return {
    level: level as Level,
    target,
    message: text(json.message) ?? text(json.msg) ?? '',
    error: error === undefined ? undefined : unquoted(error.trim()),
    path: path === undefined ? undefined : unquoted(path),
    mode: text(json.mode),
    component: [json, json.span, ...spans].map(componentOfFields).find((found) => found !== undefined),
  };
}

function componentOfFields(fields: unknown): EngineComponent | undefined {
  if (typeof fields !== 'object' || fields === null) return undefined;
  const { component_kind: kind, component_id: id } = fields as Record<string, unknown>;
  return componentOf(kind, id);
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** A value in its debug form is a quoted string. */
function unquoted(value: string): string {
  if (!/^"(?:[^"\\]|\\.)*"$/s.test(value)) return value;
  try {
    return String(JSON.parse(value.replaceAll('\n', '\\n')));
  } catch {
    return value.slice(1, -1);
  }
}

/** A record as one sentence: component, what went wrong, and where. */
export function describeRecord(
  record: LogRecord,
  address?: (record: LogRecord) => string | undefined,
): string {
  const { message, error, path, mode, component } = record;
  const lead = message.replace(/[.:]$/, '');
  const cause = error === undefined ? message : lead === 'Configuration error' ? error : `${lead}: ${error}`;
  let text = plain(cause);
  const where = /(?:^|\s)in `((?:sources|transforms|sinks|enrichment_tables)\.[^`]+)`\s*$/.exec(text);
  if (where) text = `${where[1]}: ${text.slice(0, where.index)}`;
  if (path !== undefined && !text.includes(path)) text = `${text.replace(/\.$/, '')} (${path})`;
  const extra = [mode, address?.(record)].filter((part) => part !== undefined).join(' ');
  if (extra !== '') text = `${text.replace(/\.$/, '')} (${extra})`;
  if (!component || text.includes(`"${component.id}"`)) return text;
  return `${upperFirst(component.kind)} "${component.id}": ${text}`;
}

const BIND_DEBUG = /TcpBind \{ source: Os \{ code: (\d+), kind: \w+, message: "([^"]*)" \} \}/;
/** Names in one list of what was expected. */
const NAMES_SHOWN = 10;

/** One line, without the parts that tell nothing. */
function plain(cause: string): string {
  const vrl = shortVrlError(cause);
  const one = (vrl ?? cause)
    .replace(BIND_DEBUG, 'TCP bind failed: $2 (os error $1)')
    .replace(/^An error occurred: /, '')
    .replace(/^error: /, '')
    .replace(/\s+/g, ' ')
    .trim();
  return one.replace(/(expected one of )((?:`[^`]*`(?:, )?)+)/, (_, lead: string, list: string) => {
    const names = list.split(', ');
    if (names.length <= NAMES_SHOWN) return lead + list;
    return `${lead}${names.slice(0, NAMES_SHOWN).join(', ')} and ${names.length - NAMES_SHOWN} more`;
  });
}

const upperFirst = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);
