import { writeSync } from 'node:fs';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'off'] as const;
export type Level = (typeof LEVELS)[number];
export type LogFormat = 'text' | 'json';
type Fields = Record<string, string | number | boolean>;

/** Equal lines of one component inside this window are counted, not printed. */
const RATE_LIMIT_MS = 10_000;
const RATE_LIMIT_KEYS = 1_000;

/**
 * Reads a level from `VECTOR_LOG` syntax: a level, or a comma list of `target=level` that may hold a level.
 * A word that is no level (`warning`) names a target in that syntax, so it sets nothing here.
 */
export function parseLevel(text: string | undefined, fallback: Level): Level {
  for (const item of (text ?? '').toLowerCase().split(',')) {
    const level = LEVELS.find((known) => known === item.trim());
    if (level) return level;
  }
  return fallback;
}

export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** At most one line per message in 10 s; for what can happen with every event. */
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
    const emit = (level: Level, message: string, fields: Fields = {}) => {
      if (LEVELS.indexOf(level) < threshold) return;
      write(
        options.format === 'json'
          ? JSON.stringify({
              timestamp: isoMicros(now()),
              level: level.toUpperCase(),
              message,
              ...fields,
              target,
              ...(component && {
                span: {
                  component_kind: component.kind,
                  component_id: component.id,
                  component_type: component.type,
                },
              }),
            })
          : `${isoMicros(now())} ${level.toUpperCase().padStart(5)} ${span}${target}: ${message}${renderFields(fields)}`,
      );
    };
    const limited = (level: 'warn' | 'error', message: string, fields?: Fields) => {
      const key = `${span}${message}`;
      const seen = suppressed.get(key);
      const time = now();
      if (!seen || time - seen.since >= RATE_LIMIT_MS) {
        if (seen && seen.count > 1) {
          emit(level, `Internal log [${message}] has been suppressed ${seen.count - 1} times.`);
        }
        if (suppressed.size >= RATE_LIMIT_KEYS) suppressed.clear();
        suppressed.set(key, { since: time, count: 0 });
        emit(level, message, fields);
        return;
      }
      seen.count += 1;
      if (seen.count === 1) emit(level, `Internal log [${message}] is being suppressed to avoid flooding.`);
    };
    return {
      debug: (message, fields) => emit('debug', message, fields),
      info: (message, fields) => emit('info', message, fields),
      warn: (message, fields) => emit('warn', message, fields),
      error: (message, fields) => emit('error', message, fields),
      limited,
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
    .map(([name, value]) => ` ${name}=${value}`)
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
