/**
 * Redacts `key=value`, `key: value` and `"key": "value"` in lines of text, with quotes escaped or not. One pass: the text
 * before a separator is read once, and redacted text is skipped. If the end of a value is unclear, more is redacted rather than
 * less.
 */
export const MASK = '[redacted]';

const QUOTES = '"\'`';
/** Characters that cannot be part of an unquoted key. */
const AROUND_KEY = new Set(' \t\r\n"\'`,;&?{}[]()<>|=:\\#');
const AFTER_WORD = new Set(' \t\r\n"\'`,;&)]}>');
const WORD = /[\p{L}\p{N}_]/u;
const SPACES = 8;
const QUOTED_KEY_CHARS = 256;
/** Authentication schemes: the credential is the token after them. */
const SCHEMES = new Set(['bearer', 'basic', 'digest', 'token', 'negotiate', 'ntlm', 'apikey']);
/** Headers whose value is the rest of the line. */
const WHOLE_LINE = /(authorization|cookie)$/i;

const isSpace = (char: string | undefined) => char === ' ' || char === '\t';

interface KeyContext {
  /** Possible keys before the separator. */
  keys: string[];
  /** Whether the key is quoted, as in JSON. */
  isQuoted: boolean;
  /** The quote around the whole `key: value`, as in `-H 'Cookie: a=b'`. */
  enclosing: string | null;
  /** Columns before the key if it starts its line, as in YAML, in headers or in a settings file; null otherwise. */
  indent: number | null;
}

/** Decodes a key that is written with escapes, as JSON allows. */
const unescaped = (key: string): string =>
  key.includes('\\u')
    ? key.replace(/\\+u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : key;

/** Reads the key before a separator. `floor` is the end of the last redacted value: a key cannot reach into a value. */
function readKey(text: string, separator: number, floor: number): KeyContext {
  let end = separator;
  while (end > Math.max(floor, separator - SPACES) && isSpace(text[end - 1])) end -= 1;
  const keys: string[] = [];
  const quote = text[end - 1];
  const isQuoted = end > floor && quote !== undefined && QUOTES.includes(quote);
  if (isQuoted) {
    end -= 1;
    while (end > floor && text[end - 1] === '\\') end -= 1;
    const start = text.lastIndexOf(quote, end - 1);
    // The search may go far back; then the quote does not belong to the key.
    if (start >= floor && end - start <= QUOTED_KEY_CHARS) keys.push(unescaped(text.slice(start + 1, end)));
  }
  let start = end;
  while (start > floor && !AROUND_KEY.has(text[start - 1] ?? '')) start -= 1;
  const word = text.slice(start, end);
  if (word !== '') keys.push(word);
  const segment = Math.max(...['.', '/', '@', '$', '-'].map((sign) => word.lastIndexOf(sign)));
  if (segment >= 0 && segment < word.length - 1) keys.push(word.slice(segment + 1));
  const opening = text[start - 1];
  // The key starts with the letter of an escaped newline.
  if (opening === '\\' && 'nrt'.includes(word[0] ?? ' ')) keys.push(word.slice(1));
  return {
    keys,
    isQuoted,
    enclosing: !isQuoted && opening !== undefined && QUOTES.includes(opening) ? opening : null,
    indent: indentAt(text, isQuoted ? start - 1 : start),
  };
}

const INDENT = 256;

/** The columns before `at` in its line if only spaces and list dashes precede it; null otherwise. */
function indentAt(text: string, at: number): number | null {
  let start = at;
  while (start > 0 && at - start <= INDENT && ' \t-'.includes(text[start - 1] ?? '')) start -= 1;
  return start === 0 || text[start - 1] === '\n' ? at - start : null;
}

/** What YAML allows before a value on the following lines: an anchor, a tag, a block indicator, a comment. */
const LINES_FOLLOW = /^(?:[&!][^\s]*[ \t]*)*(?:[|>][-+0-9]{0,2})?[ \t]*(?:#[^\n\\]*)?(\r?\n|\\+[rn])/;
const HEAD_CHARS = 128;

/** The value on the lines after `from`, by their indent; null if there is none. */
function linesAfter(text: string, from: number, indent: number | null): Span | null {
  const [head, end] = LINES_FOLLOW.exec(text.slice(from, from + HEAD_CHARS)) ?? [];
  if (head === undefined) return null;
  // Escaped text inside a text: its lines cannot be separated, so everything is redacted.
  if (end?.startsWith('\\')) return { from, to: text.length };
  if (indent === null) return null;
  const isBlock = /[|>]/.test(head);
  let to = from;
  let first = -1;
  for (let at = from + head.length; at < text.length; ) {
    const next = text.indexOf('\n', at);
    const lineEnd = next < 0 ? text.length : next;
    let content = at;
    while (isSpace(text[content])) content += 1;
    const isBlank = content >= lineEnd || text[content] === '\r';
    const isItem = !isBlock && content - at === indent && text[content] === '-';
    if (!isBlank && content - at <= indent && !isItem) break;
    if (!isBlank) {
      if (first < 0) first = content;
      to = lineEnd;
    }
    at = lineEnd + 1;
  }
  return first < 0 ? null : { from: head.trim() === '' ? first : from, to };
}

interface Span {
  from: number;
  to: number;
}

function wordEnd(text: string, from: number): number {
  let to = from;
  while (to < text.length && !AFTER_WORD.has(text[to] ?? '')) to += 1;
  if (QUOTES.includes(text[to] ?? ' ')) while (to > from && text[to - 1] === '\\') to -= 1;
  return to;
}

/** The value after a separator; null if there is none. */
function valueAfter(
  text: string,
  separator: number,
  isWholeLine: boolean,
  { isQuoted, enclosing, indent }: KeyContext,
): Span | null {
  let from = separator + 1;
  while (text[from] === '=' || text[from] === ':' || text[from] === '>') from += 1;
  while (isSpace(text[from])) from += 1;
  const lines = text[separator] === ':' ? linesAfter(text, from, indent) : null;
  if (lines) return lines;
  if (isQuoted) while (/\s/.test(text[from] ?? '')) from += 1;
  let opening = from;
  while (text[opening] === '\\') opening += 1;
  const quote = text[opening];
  if (quote !== undefined && QUOTES.includes(quote) && quote !== enclosing) {
    const level = opening - from;
    for (let at = text.indexOf(quote, opening + 1); at >= 0; at = text.indexOf(quote, at + 1)) {
      let to = at;
      while (to > opening + 1 && text[to - 1] === '\\') to -= 1;
      if (at - to > level) continue;
      const next = text[at + 1] ?? '';
      // A missing or doubled quote: the end is unknown.
      const isNoEnd = WORD.test(next) || (level === 0 && next === quote);
      return isNoEnd ? { from, to: text.length } : { from: opening + 1, to };
    }
    return { from: opening + 1, to: text.length };
  }
  if (text.startsWith(MASK, from) && !WORD.test(text[from + MASK.length] ?? ''))
    return { from, to: from + MASK.length };
  const isOpen = text[from] === '{' || text[from] === '[';
  if (isWholeLine || (indent !== null && !isOpen && isSpaced(text, separator))) {
    let to = from;
    while (to < text.length && text[to] !== '\n' && text[to] !== '\r' && text[to] !== enclosing) to += 1;
    return to === from ? null : { from, to };
  }
  if (isOpen) return { from, to: text.length };
  let to = wordEnd(text, from);
  if (to === from) return null;
  if (SCHEMES.has(text.slice(from, to).toLowerCase()) && isSpace(text[to])) {
    let next = to;
    while (isSpace(text[next])) next += 1;
    to = Math.max(to, wordEnd(text, next));
  }
  return { from, to };
}

/**
 * Whether the separator is written `key: value` or `key = value`, where the value may contain spaces; `key=value` may be one of
 * several.
 */
const isSpaced = (text: string, separator: number) =>
  text[separator] === ':' ? isSpace(text[separator + 1]) : isSpace(text[separator - 1]);

const SEPARATOR = /[=:]/g;

export function redactText(text: string, isRedacted: (key: string) => boolean): string {
  let out = '';
  let copied = 0;
  SEPARATOR.lastIndex = 0;
  const next = (from: number): number => {
    SEPARATOR.lastIndex = from;
    return SEPARATOR.exec(text)?.index ?? -1;
  };
  for (let at = next(0); at >= 0; ) {
    const context = readKey(text, at, copied);
    const { keys } = context;
    if (!keys.some(isRedacted)) {
      at = next(at + 1);
      continue;
    }
    const isWholeLine = keys.some((key) => WHOLE_LINE.test(key));
    const span = valueAfter(text, at, isWholeLine, context);
    if (!span) {
      at = next(at + 1);
      continue;
    }
    out += text.slice(copied, span.from) + MASK;
    copied = span.to;
    at = next(span.to);
  }
  return copied === 0 ? text : out + text.slice(copied);
}
