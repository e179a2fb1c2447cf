export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Fields = Record<string, string | number | boolean | undefined>;

export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
}

/** Characters of one value in a log line; outside text must not fill a disk. */
const VALUE_CHARS = 2_000;

function quote(value: string | number | boolean): string {
  const text = String(value).slice(0, VALUE_CHARS);
  return /^[\w./:@+-]+$/.test(text) ? text : JSON.stringify(text);
}

/** One logfmt line an entry: `time=… level=… msg=… key=value`. Callers never hand over secrets or tokens. */
export function createLogger(level: LogLevel, write: (line: string) => void = writeToStderr): Logger {
  const lowest = LOG_LEVELS.indexOf(level);
  const at =
    (name: LogLevel) =>
    (message: string, fields: Fields = {}) => {
      if (LOG_LEVELS.indexOf(name) < lowest) return;
      let line = `time=${new Date().toISOString()} level=${name} msg=${quote(message)}`;
      for (const [key, value] of Object.entries(fields)) {
        if (value !== undefined) line += ` ${key}=${quote(value)}`;
      }
      write(`${line}\n`);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

// The reader of the log may end before us (journald restarts, a pipe's other side): engines are worth more than lines.
process.stderr.on('error', () => {});

function writeToStderr(line: string): void {
  process.stderr.write(line);
}
