/**
 * The level of a log line, as its own text tells it: a JSON `level`, the number of a syslog line, `level=` of logfmt, or a
 * word near the start. A word further on is part of the message: "no errors" is no ERROR.
 */
import { stripVTControlCharacters } from 'node:util';
import type { LogLevel } from '../../../schemas/api/logs.ts';

/** The level stands within this many characters, also behind a long timestamp and a name. */
const HEAD_CHARS = 160;
/** Names between a timestamp and the level: host, process, logger. */
const NAMES_BEFORE = 3;

/** One level a line. What has no level of its own and continues the line before (a stack trace) has that line's. */
export function levelsOf(lines: readonly string[]): LogLevel[] {
  let before: LogLevel = 'INFO';
  return lines.map((line) => {
    const own = levelOf(line);
    if (own !== null) before = own;
    else if (!continues(line)) before = 'INFO';
    return before;
  });
}

/** What the line itself tells; null when it tells nothing. */
export function levelOf(line: string): LogLevel | null {
  const plain = line.includes('\u001b') ? stripVTControlCharacters(line) : line;
  const text = plain.trimStart();
  if (text.startsWith('{')) return levelOfJson(text);
  const head = text.slice(0, HEAD_CHARS);
  const priority = /^<(\d{1,3})>/.exec(head)?.[1];
  if (priority !== undefined) return levelOfSyslog(Number(priority) & 7);
  const named = /(?:^|[\s{])(?:level|lvl|severity)="?(\w{1,12})/i.exec(head)?.[1];
  return (named === undefined ? null : levelOfValue(named)) ?? levelOfText(head);
}

/** Indented, or without a time of its own. Events in JSON each stand for themselves. */
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
    // Cut short, or a template: the first `"level": …` that is not itself inside of a text.
    const found = /"(?:level|severity|lvl|levelname)"\s*:\s*(?:"(\w{1,12})"|(\d{1,3}))/i.exec(text);
    return levelOfValue(found?.[1] ?? (found?.[2] === undefined ? undefined : Number(found[2])));
  }
  if (typeof parsed !== 'object' || parsed === null) return null;
  for (const [key, value] of Object.entries(parsed)) {
    if (!LEVEL_KEYS.includes(key.toLowerCase())) continue;
    const level = levelOfValue(value);
    if (level) return level;
  }
  return null;
}

const WORDS: Readonly<Record<string, LogLevel>> = {
  ...{ trace: 'TRACE', trc: 'TRACE', verbose: 'TRACE', finest: 'TRACE' },
  ...{ debug: 'DEBUG', dbg: 'DEBUG', fine: 'DEBUG' },
  ...{ info: 'INFO', inf: 'INFO', information: 'INFO', informational: 'INFO', notice: 'INFO' },
  ...{ warn: 'WARN', warning: 'WARN', wrn: 'WARN' },
  ...{ error: 'ERROR', err: 'ERROR', fatal: 'ERROR', critical: 'ERROR', crit: 'ERROR', severe: 'ERROR' },
  ...{ panic: 'ERROR', alert: 'ERROR', emerg: 'ERROR', emergency: 'ERROR' },
};

function levelOfWord(word: string): LogLevel | null {
  const name = word.toLowerCase();
  return Object.hasOwn(WORDS, name) ? (WORDS[name] ?? null) : null;
}

function levelOfValue(value: unknown): LogLevel | null {
  if (typeof value === 'number') return levelOfNumber(value);
  if (typeof value !== 'string') return null;
  return /^\d{1,3}$/.test(value) ? levelOfNumber(Number(value)) : levelOfWord(value.trim());
}

/** pino and bunyan count 10, 20 … 60; below 8 it is a severity of syslog. */
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

/** What stands before the level may only be times, brackets, separators and, behind a time, a few names. */
function levelOfText(head: string): LogLevel | null {
  const klog = /^([IWEF])\d{4} \d\d:\d\d:\d\d/.exec(head)?.[1];
  if (klog) return KLOG[klog] ?? null;
  if (/^thread '[^']*'.* panicked at|^Traceback \(|^[\w.]*(?:Error|Exception): /.test(head)) return 'ERROR';
  let timed = false;
  let names = 0;
  let bracket = false;
  let before = '';
  for (const token of head.split(/\s+/, 12)) {
    const opens = /^[[(<]/.test(token);
    const bare = token.replace(/^[^\w]+|[^\w]+$/g, '');
    // `ERROR:root:…`, `core:error`
    const word = bare.split(':').find((part) => levelOfWord(part) !== null);
    const marked = opens || bracket || token.endsWith(':') || token.endsWith('|');
    if (word !== undefined && (marked || word === word.toUpperCase() || before === 'time')) {
      return NEGATIONS.has(before) ? null : levelOfWord(word);
    }
    if (isTime(token)) {
      timed = true;
      before = 'time';
      continue;
    }
    if (opens) bracket = true;
    if (bracket) {
      bracket = !/[\])>][:,]?$/.test(token);
      before = '';
      continue;
    }
    before = bare.toLowerCase();
    if (bare === '') continue;
    names += 1;
    if (!timed || names > NAMES_BEFORE) return null;
  }
  return null;
}

/** Part of a date or a time of day: digits and what stands between them, or the name of a month or day. */
function isTime(token: string): boolean {
  return (
    /^[[(]?(?=.*\d.*\d)[\d:.,/+TZ-]+[\])]?[:,]?$/.test(token) ||
    /^[[(]?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun),?$/.test(token)
  );
}
