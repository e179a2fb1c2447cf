/** Loggers whose lines a test reads. */
import { Writable } from 'node:stream';
import { createLogger, type Logger, type LogLevel } from '../../../controller/platform/runtime/logger.ts';

/** `write` gets one or more lines of JSON. */
export function logInto(level: LogLevel, write: (text: string) => void): Logger {
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      write(chunk.toString('utf8'));
      done();
    },
  });
  return createLogger(level, sink);
}

/** Holds its own lines and nothing else: a library that keeps the logger keeps nothing of the test. */
export function recordedLog(level: LogLevel): { log: Logger; text(): string } {
  let text = '';
  return { log: logInto(level, (lines) => (text += lines)), text: () => text };
}
