import { writeSync } from 'node:fs';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'off'] as const;
export type Level = (typeof LEVELS)[number];
export type LogFormat = 'text' | 'json';
type Fields = Record<string, string | number | boolean>;

/** Fields that are quoted in text: Vector gives them as strings and not as what can be shown. */
const QUOTED: ReadonlySet<string> = new Set([
  'arch',
  'component_kind',
  'component_type',
  'debug',
  'error_code',
  'error_type',
  'revision',
  'signal',
  'stage',
  'version',
]);

/** Equal lines of one component inside this window are counted, not printed. */
const RATE_LIMIT_MS = 10_000;
const RATE_LIMIT_KEYS = 1_000;

/** A `VECTOR_LOG` that cannot be read. Vector panics over it. */
export class LogFilterError extends Error {}

/**
 * Reads `VECTOR_LOG`: a level, or a comma list of `target=level` that may hold a level. A word that is no level
 * (`warning`) names a target in that syntax and silences all others, so nothing of this engine is left.
 * Throws LogFilterError.
 */
export function parseLevel(text: string | undefined, fallback: Level): Level {
  if (text === undefined || text === '') return fallback;
  let level: Level = 'off';
  for (const item of text.toLowerCase().split(',')) {
    const [word = '', value, ...more] = item.split('=').map((part) => part.trim());
    if (more.length > 0) throw new LogFilterError("too many '=' in filter directive, expected 0 or 1");
    if (value !== undefined && value !== '' && !isLevel(value)) throw new LogFilterError('invalid level');
    if (value === undefined && isLevel(word)) level = word;
  }
  return level;
}

const isLevel = (word: string): word is Level => LEVELS.some((level) => level === word);

export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** The same by the name of the level; for what can happen with every event. */
  limited(level: 'warn' | 'error', message: string, fields?: Fields): void;
  /** The same logger under another target, optionally inside a component's span. */
  child(target: string, component?: { kind: string; id: string; type: string }): Logger;
}

export interface LoggerOptions {
  level: Level;
  format: LogFormat;
  now?: () => number;
  write?: (line: string) => void;
}

/** Lines in the shape of Vector's: text goes to stderr, JSON to stdout. */
export function createLogger(options: LoggerOptions): Logger {
  const threshold = LEVELS.indexOf(options.level);
  const now = options.now ?? (() => performance.timeOrigin + performance.now());
  const write = options.write ?? ((line: string) => writeLine(options.format === 'json' ? 1 : 2, line));
  const suppressed = new Map<string, { since: number; count: number }>();

  function build(target: string, component?: { kind: string; id: string; type: string }): Logger {
    const span = component
      ? `${component.kind}{component_kind="${component.kind}" component_id=${component.id} component_type=${component.type}}: `
      : '';
    const names = component && {
      component_id: component.id,
      component_kind: component.kind,
      component_type: component.type,
      name: component.kind,
    };
    const print = (level: Level, message: string, fields: Fields) => {
      const { msg, ...others } = fields;
      write(
        options.format === 'json'
          ? JSON.stringify({
              timestamp: isoMicros(now()),
              level: level.toUpperCase(),
              ...(msg === undefined ? { message } : { msg }),
              ...others,
              target,
              ...(names && { span: names, spans: [names] }),
            })
          : `${isoMicros(now())} ${level.toUpperCase().padStart(5)} ${span}${target}: ${msg === undefined ? message : `msg="${msg}"`}${renderFields(others)}`,
      );
    };
    const emit = (level: Level, message: string, fields: Fields = {}) => {
      if (LEVELS.indexOf(level) < threshold) return;
      if (fields.internal_log_rate_limit === false) return print(level, message, fields);
      const text = message || String(fields.msg);
      const key = `${component?.id ?? fields.component_id ?? ''}\u0000${target}\u0000${text}`;
      const seen = suppressed.get(key);
      const time = now();
      if (seen && time - seen.since < RATE_LIMIT_MS) {
        seen.count += 1;
        if (seen.count === 1)
          print(level, `Internal log [${text}] is being suppressed to avoid flooding.`, {});
        return;
      }
      if (seen && seen.count > 0)
        print(level, `Internal log [${text}] has been suppressed ${seen.count} times.`, {});
      if (suppressed.size >= RATE_LIMIT_KEYS) suppressed.clear();
      suppressed.set(key, { since: time, count: 0 });
      print(level, message, fields);
    };
    return {
      debug: (message, fields) => emit('debug', message, fields),
      info: (message, fields) => emit('info', message, fields),
      warn: (message, fields) => emit('warn', message, fields),
      error: (message, fields) => emit('error', message, fields),
      limited: emit,
      child: (childTarget, childComponent) => build(childTarget, childComponent ?? component),
    };
  }
  return build('headgate_engine');
}

/** Milliseconds since the epoch as an ISO time with microseconds. */
function isoMicros(ms: number): string {
  const micros = Math.floor((ms - Math.floor(ms)) * 1000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
}

function renderFields(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, value]) => ` ${name}=${QUOTED.has(name) ? JSON.stringify(value) : value}`)
    .join('');
}

/** A full pipe (EAGAIN) or a reader that left (EPIPE) costs log lines, never the process. */
function writeLine(fd: number, line: string): void {
  try {
    writeSync(fd, `${line}\n`);
  } catch {
    // There is nowhere left to say so.
  }
}
