/** Values of parameters, in the four ways to write them. Facts from docs.fluentd.org, "Config File Syntax". */
import type { Quoting } from '../config-tree.ts';
import { takeEmbeddedRuby } from './embedded-ruby.ts';
import { takeJson } from './json-literal.ts';
import type { Scanner } from './scanner.ts';

export interface Literal {
  value: string;
  quoting: Quoting;
  embeddedRuby: string[];
}

const ESCAPES: Readonly<Record<string, string>> = {
  r: '\r',
  n: '\n',
  t: '\t',
  f: '\f',
  b: '\b',
  '0': '\0',
};

/** The scanner stands at the first character of the value. */
export function takeLiteral(scanner: Scanner): Literal {
  switch (scanner.peek()) {
    case '"':
      return takeDoubleQuoted(scanner);
    case "'":
      return takeSingleQuoted(scanner);
    case '[':
    case '{':
      return takeJson(scanner);
    default:
      return { value: takeUnquoted(scanner), quoting: 'none', embeddedRuby: [] };
  }
}

/** To the end of the line. ` #` begins a comment, `#` after a character or at the beginning does not. */
export function takeUnquoted(scanner: Scanner): string {
  const start = scanner.pos;
  let end = start;
  let blank = false;
  while (!scanner.isAtEnd) {
    const char = scanner.peek();
    if (char === '\n' || char === '\r') break;
    if (char === '#' && blank) {
      scanner.takeLine();
      break;
    }
    blank = char === ' ' || char === '\t';
    scanner.pos += 1;
    if (!blank) end = scanner.pos;
  }
  return scanner.text.slice(start, end);
}

export function takeDoubleQuoted(scanner: Scanner): Literal {
  const start = scanner.pos;
  const parts: string[] = [];
  const embeddedRuby: string[] = [];
  scanner.pos += 1;
  while (!scanner.isAtEnd) {
    const char = scanner.take();
    if (char === '"') return { value: parts.join(''), quoting: 'double', embeddedRuby };
    if (char === '\\') parts.push(takeEscape(scanner));
    else if (char === '#' && scanner.peek() === '{') {
      const code = takeEmbeddedRuby(scanner);
      if (code === null) break;
      embeddedRuby.push(code.trim());
      parts.push(`#{${code}}`);
    } else parts.push(char);
  }
  scanner.stop('a value in double quotes does not end; write " at its end', start);
  return { value: parts.join(''), quoting: 'double', embeddedRuby };
}

function takeEscape(scanner: Scanner): string {
  const char = scanner.take();
  // A line that ends with a backslash goes on in the next one.
  if (char === '\n') return '';
  if (char === '\r') {
    scanner.skip('\n');
    return '';
  }
  const escaped = ESCAPES[char];
  if (escaped !== undefined) return escaped;
  if (/^[a-zA-Z0-9]$/.test(char)) {
    const where = scanner.pos - 2;
    scanner.report(
      'error',
      `\\${char} is no escape in double quotes; write \\\\${char} or single quotes`,
      where,
    );
    return `\\${char}`;
  }
  return char;
}

export function takeSingleQuoted(scanner: Scanner): Literal {
  const start = scanner.pos;
  const parts: string[] = [];
  scanner.pos += 1;
  while (!scanner.isAtEnd) {
    const char = scanner.peek();
    if (char === '\n' || char === '\r') break;
    scanner.pos += 1;
    if (char === "'") return { value: parts.join(''), quoting: 'single', embeddedRuby: [] };
    const next = scanner.peek();
    if (char === '\\' && (next === "'" || next === '\\')) {
      parts.push(next);
      scanner.pos += 1;
    } else parts.push(char);
  }
  scanner.report('error', "a value in single quotes must end with ' on its line", start);
  return { value: parts.join(''), quoting: 'single', embeddedRuby: [] };
}
