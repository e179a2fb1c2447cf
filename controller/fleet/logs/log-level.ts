/**
 * Detects the level of a log line from its text: a JSON `level`, the number of a syslog line, `level=` of logfmt, or a keyword
 * near the start. A keyword further on belongs to the message: "no errors" is not an ERROR.
 */
import { stripVTControlCharacters } from 'node:util';
import type { LogLevel } from '../../../schemas/api/fleet/logs.ts';

/** The level must be within this many characters, which leaves space for a long timestamp and a name. */
const HEAD_CHARS = 160;
/** Names between a timestamp and the level: host, process, logger. */
const NAMES_BEFORE = 3;

/**
 * Returns one level per line. A line without a level that continues the previous one (a stack trace) gets the level of that
 * line.
 */
export function levelsOf(lines: readonly string[]): LogLevel[] {
  let previous: LogLevel = 'INFO';
  return lines.map((line) => {
    const level = levelOf(line);
    if (level !== null) previous = level;
    else if (!continues(line)) previous = 'INFO';
    return previous;
  });
}

/** The level that the line itself contains; null if it contains none. */
export function levelOf(line: string): LogLevel | null {
  const plain = line.includes('\u001b') ? stripVTControlCharacters(line) : line;
  const text = plain.trimStart();
  if (text.startsWith('{')) return levelOfJson(text);
  const head = text.slice(0, HEAD_CHARS);
  const priority = /^<(\d{1,3})>/.exec(head)?.[1];
  if (priority !== undefined) return levelOfSyslog(Number(priority) & 7);
  const keyword = /(?:^|[\s{])(?:level|lvl|severity)="?(\w{1,12})/i.exec(head)?.[1];
  return (keyword === undefined ? null : levelOfValue(keyword)) ?? levelOfText(head);
}

/** Indented, or without a timestamp. JSON events never continue a line. */
function continues(line: string): boolean {
  if (/^\s/.test(line)) return true;
  return !line.startsWith('{') && !isTime(line.split(/\s/, 1)[0] ?? '');
}

const LEVEL_KEYS = ['level', 'severity', 'lvl', 'loglevel', 'log_level', 'log.level', 'levelname'];

function levelOfJson(text: string): LogLevel | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Truncated JSON or a template: take the first `"level": …` that is not inside a string.
    const match = /"(?:level|severity|lvl|levelname)"\s*:\s*(?:"(\w{1,12})"|(\d{1,3}))/i.exec(text);
    return levelOfValue(match?.[1] ?? (match?.[2] === undefined ? undefined : Number(match[2])));
  }
  if (typeof parsed !== 'object' || parsed === null) return null;
  for (const [key, value] of Object.entries(parsed)) {
    if (!LEVEL_KEYS.includes(key.toLowerCase())) continue;
    const level = levelOfValue(value);
    if (level) return level;
  }
  return null;
}

const LEVELS_BY_KEYWORD: Readonly<Record<string, LogLevel>> = {
  ...{ trace: 'TRACE', trc: 'TRACE', verbose: 'TRACE', finest: 'TRACE' },
  ...{ debug: 'DEBUG', dbg: 'DEBUG', fine: 'DEBUG' },
  ...{ info: 'INFO', inf: 'INFO', information: 'INFO', informational: 'INFO', notice: 'INFO' },
  ...{ warn: 'WARN', warning: 'WARN', wrn: 'WARN' },
  ...{ error: 'ERROR', err: 'ERROR', fatal: 'ERROR', critical: 'ERROR', crit: 'ERROR', severe: 'ERROR' },
  ...{ panic: 'ERROR', alert: 'ERROR', emerg: 'ERROR', emergency: 'ERROR' },
};

function levelOfKeyword(word: string): LogLevel | null {
  const name = word.toLowerCase();
  return Object.hasOwn(LEVELS_BY_KEYWORD, name) ? (LEVELS_BY_KEYWORD[name] ?? null) : null;
}

function levelOfValue(value: unknown): LogLevel | null {
  if (typeof value === 'number') return levelOfNumber(value);
  if (typeof value !== 'string') return null;
  return /^\d{1,3}$/.test(value) ? levelOfNumber(Number(value)) : levelOfKeyword(value.trim());
}

/** pino and bunyan use 10, 20 … 60; numbers below 8 are syslog severities. */
function levelOfNumber(value: number): LogLevel | null {
  if (!(value >= 0)) return null;
  if (value < 8) return levelOfSyslog(Math.floor(value));
  if (value >= 50) return 'ERROR';
  if (value >= 40) return 'WARN';
  if (value >= 30) return 'INFO';
  return value >= 20 ? 'DEBUG' : 'TRACE';
}

/** RFC 5424, section 6.2.1. */
function levelOfSyslog(severity: number): LogLevel {
  if (severity <= 3) return 'ERROR';
  if (severity === 4) return 'WARN';
  return severity === 7 ? 'DEBUG' : 'INFO';
}

const KLOG: Readonly<Record<string, LogLevel>> = { I: 'INFO', W: 'WARN', E: 'ERROR', F: 'ERROR' };
const NEGATIONS = new Set(['no', 'not', 'without', 'any', '0', 'zero']);

/** Only times, brackets, separators and, after a time, a few names may precede the level. */
function levelOfText(head: string): LogLevel | null {
  const klog = /^([IWEF])\d{4} \d\d:\d\d:\d\d/.exec(head)?.[1];
  if (klog) return KLOG[klog] ?? null;
  if (/^thread '[^']*'.* panicked at|^Traceback \(|^[\w.]*(?:Error|Exception): /.test(head)) return 'ERROR';
  let hasTime = false;
  let names = 0;
  let bracket = false;
  let previous = '';
  for (const token of head.split(/\s+/, 12)) {
    const opens = /^[[(<]/.test(token);
    const bare = token.replace(/^[^\w]+|[^\w]+$/g, '');
    // `ERROR:root:…`, `core:error`
    const word = bare.split(':').find((part) => levelOfKeyword(part) !== null);
    const marked = opens || bracket || token.endsWith(':') || token.endsWith('|');
    if (word !== undefined && (marked || word === word.toUpperCase() || previous === 'time')) {
      return NEGATIONS.has(previous) ? null : levelOfKeyword(word);
    }
    if (isTime(token)) {
      hasTime = true;
      previous = 'time';
      continue;
    }
    if (opens) bracket = true;
    if (bracket) {
      bracket = !/[\])>][:,]?$/.test(token);
      previous = '';
      continue;
    }
    previous = bare.toLowerCase();
    if (bare === '') continue;
    names += 1;
    if (!hasTime || names > NAMES_BEFORE) return null;
  }
  return null;
}

/** Part of a date or time: digits and separators, or the name of a month or weekday. */
function isTime(token: string): boolean {
  return (
    /^[[(]?(?=.*\d.*\d)[\d:.,/+TZ-]+[\])]?[:,]?$/.test(token) ||
    /^[[(]?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun),?$/.test(token)
  );
}
