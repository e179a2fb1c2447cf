/**
 * Finds credentials in the text of a Fluentd configuration. It looks at the text alone, since what is commented out, or stands
 * in a text that is not valid, may be a password too. Where it is not clear where a value ends, more is hidden and not less.
 */
import { takeLiteral } from '../fluentd/parse/literal.ts';
import { Scanner } from '../fluentd/parse/scanner.ts';
import { isSensitiveName } from './sensitive-name.ts';

/** Places in the text: `from` is the first character, `to` the one after the last. */
export interface Span {
  from: number;
  to: number;
}

/** `name value`, also commented out. */
const PARAM = /^([ \t]*(?:#[ \t]*)*["']?)([\w@.$/-]{1,200})(["']?[ \t]+)(?=\S)/gm;
/** Blanks and at most one comment, over lines. */
const GAP = '\\s{0,50}(?:#[^\\n]{0,200}\\n\\s{0,50})?';
/** `"name": value` and `'name' => value`, also with escaped quotes and over lines, as in hashes. */
const PAIR = new RegExp(`(\\\\?["'])([^"'\\\\\\n]{1,200})\\1(${GAP}(?:=>|[:=])${GAP})`, 'g');
/** `name:value`, `name=value`, as in lists of headers, commands, queries of URLs and connection strings. */
const PLAIN_PAIR = /(?<![\w-])([\w-]{1,100})([^\S\n]{0,5}(?:=>|[:=])[^\S\n]{0,5})(?=[^\s,}&])/g;
/** `--name value`, as in commands. */
const FLAG = /(?<![\w-])(--[\w-]{1,100})([^\S\n]{1,5}["']?)(?=[^\s"'-])/g;
/** Values that are credentials whatever stands before them. The first group is shown. */
const VALUES: readonly RegExp[] = [
  /([a-z][a-z0-9+.-]{0,30}:\/\/[^/\s:@"']{0,200}:)[^\s"'/]+(?=@)/gi,
  /(https?:\/\/)[\w.~%+-]{16,}(?=@)/gi,
  /(\b(?:[Bb]earer|[Bb]asic|Splunk|Token|ApiKey|GenieKey)\s+)[A-Za-z0-9+/._~=-]{6,}/g,
  /([^\S\n](?:-u|--user)[^\S\n]+["']?[\w.@\\-]{0,100}:)[^\s"']+/g,
  // Addresses that are credentials as a whole.
  /(https?:\/\/hooks\.[^/\s"']{1,200}\/)[^\s"']+/gi,
  /(https?:\/\/[^\s"'?]{1,200}?\/(?:webhooks?|receiver\/v\d+\/http|inputs)\/)[^\s"']+/gi,
  /()-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$(?![\s\S]))/g,
  /()\b(?:gh[pousr]_\w{20,}|glpat-[\w-]{16,}|xox[a-z]-[\w-]{10,}|eyJ[\w-]{10,250}\.[\w-]{4,}\.[\w-]*)/g,
];
/** What names a value elsewhere is no credential, and neither is a switch or a small number. */
const REFERENCE =
  /^["']?(?:#\{\s*(?:ENV\[(["'])[\w.-]*\1\]|ENV\.fetch\((["'])[\w.-]*\2\)|hostname|worker_id)(?:\s*\|\|\s*\w+)?\s*\}|\$\{\s*[\w.]+(?:\[["']?[\w.-]*["']?\])*\s*\})["']?$|^["']?(?:true|false|yes|no|nil|null|\d{1,2})["']?$/i;

/** In order, none inside of another. Takes time in proportion to the text, whatever it is. */
export function findHiddenSpans(text: string): Span[] {
  const scanner = new Scanner(text);
  return merge([
    ...params(text, scanner),
    ...named(text, PAIR, (at) => hashValueEnd(text, scanner, at)),
    ...named(text, PLAIN_PAIR, (at) => plainEnd(text, at)),
    ...named(text, FLAG, (at) => endOf(text, at, /[^\s"']+/y)),
    ...VALUES.flatMap((pattern) =>
      [...text.matchAll(pattern)].map(
        ({ 0: found, 1: shown = '', index }): Span => ({
          from: index + shown.length,
          to: index + found.length,
        }),
      ),
    ),
  ]);
}

function params(text: string, scanner: Scanner): Span[] {
  let hiddenTo = 0;
  return [...text.matchAll(PARAM)].flatMap(({ 0: found, 1: before = '', 2: name = '', index }): Span[] => {
    const from = index + found.length;
    if (from < hiddenTo || !isSensitiveName(name)) return [];
    const to = before.includes('#') ? commentedEnd(text, from) : paramEnd(text, scanner, from);
    if (REFERENCE.test(text.slice(from, to).trim())) return [];
    hiddenTo = to;
    return [{ from, to }];
  });
}

/** Behind the line in which the value ends. */
function paramEnd(text: string, scanner: Scanner, from: number): number {
  const first = text[from] ?? '';
  if (!/["'[{]/.test(first)) return lineEnd(text, from);
  scanner.pos = from;
  takeLiteral(scanner);
  if (first !== "'" || text[scanner.pos - 1] === "'") return lineEnd(text, scanner.pos);
  // Fluentd has no such values over lines. Where one was meant, it is a credential all the same.
  const closing = text.indexOf("'", from + 1);
  return lineEnd(text, closing < 0 ? text.length : closing);
}

/** Of a value that is commented out: a text or a hash may go on in the lines that are commented out with it. */
function commentedEnd(text: string, from: number): number {
  const end = lineEnd(text, from);
  const line = text.slice(from, end);
  const isOpenHash = /^[[{]/.test(line) && count(line, /[[{]/g) > count(line, /[\]}]/g);
  const closed = isOpenHash ? text.length : lineEnd(text, Math.max(from, quotedEnd(text, from) - 1));
  return closed <= end ? end : Math.min(closed, endOf(text, from, /[^\n]*(?:\n[^\S\n]*#[^\n]*)*/y));
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/**
 * What `pattern` finds are names with what parts them from their values, in its last two groups. `end` gives the place behind
 * the value; quotes around it are shown.
 */
function named(text: string, pattern: RegExp, end: (at: number) => number): Span[] {
  let hiddenTo = 0;
  return [...text.matchAll(pattern)].flatMap((match): Span[] => {
    const at = match.index + match[0].length;
    if (at < hiddenTo || !isSensitiveName(match.at(-2) ?? '')) return [];
    const to = end(at);
    const value = text.slice(at, to);
    if (REFERENCE.test(value.trim())) return [];
    hiddenTo = to;
    const quote = /^\\?["']/.exec(value)?.[0] ?? '';
    const isClosed = quote !== '' && value.length >= 2 * quote.length && value.endsWith(quote);
    return [{ from: at + quote.length, to: isClosed ? to - quote.length : to }];
  });
}

function hashValueEnd(text: string, scanner: Scanner, at: number): number {
  const quoted = quotedEnd(text, at);
  if (quoted > at) return quoted;
  if (!/[[{]/.test(text[at] ?? '')) return endOf(text, at, /[^\s,}\]]*/y);
  scanner.pos = at;
  takeLiteral(scanner);
  return scanner.pos;
}

/** A text in quotes or a reference as a whole; else up to what may separate values. */
function plainEnd(text: string, at: number): number {
  const quoted = quotedEnd(text, at);
  return quoted > at ? quoted : endOf(text, at, /[#$]\{[^}\n]*\}(?=[\s,}&"']|$)|[^,}&"'\n]*/y);
}

/** Behind the closing quote, which is escaped where the opening one is. `at` itself where there is no quote. */
function quotedEnd(text: string, at: number): number {
  if (text.startsWith('\\"', at)) return endOf(text, at, /\\"[^"]*"?/y);
  if (text.startsWith("\\'", at)) return endOf(text, at, /\\'[^']*'?/y);
  if (text[at] === '"') return endOf(text, at, /"(?:[^"\\]|\\[\s\S])*"?/y);
  return text[at] === "'" ? endOf(text, at, /'(?:[^'\\]|\\[\s\S])*'?/y) : at;
}

function endOf(text: string, at: number, pattern: RegExp): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}

/** Without the carriage return of texts from Windows. */
function lineEnd(text: string, from: number): number {
  const feed = text.indexOf('\n', from);
  const end = feed < 0 ? text.length : feed;
  return text[end - 1] === '\r' && end > from ? end - 1 : end;
}

function merge(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    if (to <= from) continue;
    const last = merged.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}
