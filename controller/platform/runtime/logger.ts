import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'level'> & {
  child(fields: object, options?: { level: LogLevel }): Logger;
};

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The same log for lines that are written whatever its level is; `silent` stays silent. */
export const always = (log: Logger): Logger =>
  log.level === 'silent' ? log : log.child({}, { level: 'info' });

/** JSON lines. Fields that could carry a credential are blanked by name, wherever they stand near the top. */
export function createLogger(level: LogLevel, destination: NodeJS.WritableStream = process.stderr): Logger {
  const secret = [
    'password',
    'token',
    'secret',
    'authorization',
    'cookie',
    'value',
    'secretKey',
    'nodeToken',
  ];
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secret.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
    },
    destination,
  );
}
