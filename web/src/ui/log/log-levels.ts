import type { LogLevel } from '../../../../schemas/api/fleet/logs.ts';
import type { Tone } from '../primitives/tone.ts';

export const LEVEL_TONE: Record<LogLevel, Tone> = {
  TRACE: 'unknown',
  DEBUG: 'unknown',
  INFO: 'moving',
  WARN: 'held',
  ERROR: 'failed',
};

/** The least first. The server's own list would bring its whole schema library into the page. */
export const LOG_LEVELS: readonly LogLevel[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'];
