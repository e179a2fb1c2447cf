/** Arrays and hashes in JSON, over several lines and with comments between them. */

import { takeEmbeddedRuby } from './embedded-ruby.ts';
import type { Literal } from './literal.ts';
import type { Scanner } from './scanner.ts';

const MAX_NESTING = 32;

/** The scanner stands at `[` or `{`. The value is the JSON without its comments. */
export function takeJson(scanner: Scanner): Literal {
  const start = scanner.pos;
  const parts: string[] = [];
  const embeddedRuby: string[] = [];
  let depth = 0;
  while (!scanner.isAtEnd) {
    const char = scanner.take();
    if (char === '#') {
      scanner.takeLine();
      continue;
    }
    if (char === '"') {
      if (!takeString(scanner, parts, embeddedRuby)) break;
      continue;
    }
    parts.push(char);
    if (char === '[' || char === '{') depth += 1;
    if (depth > MAX_NESTING) {
      scanner.stop(`JSON is nested deeper than ${MAX_NESTING}`, start);
      return { value: '', quoting: 'json', embeddedRuby };
    }
    if (char === ']' || char === '}') depth -= 1;
    if (depth === 0) return checked(scanner, start, parts.join(''), embeddedRuby);
  }
  const bracket = scanner.text[start] === '[' ? ']' : '}';
  scanner.stop(
    `a value in JSON does not end; write ${bracket} at its end, or put the value into quotes if it is no JSON`,
    start,
  );
  return { value: parts.join(''), quoting: 'json', embeddedRuby };
}

function checked(scanner: Scanner, start: number, value: string, embeddedRuby: string[]): Literal {
  try {
    JSON.parse(value);
  } catch {
    scanner.report(
      'error',
      'this is not valid JSON; a value that begins with [ or { needs quotes if it is none',
      start,
    );
  }
  return { value, quoting: 'json', embeddedRuby };
}

/** After the opening quote. Embedded Ruby becomes `#{…}` inside of the string, escaped as JSON has it. */
function takeString(scanner: Scanner, parts: string[], embeddedRuby: string[]): boolean {
  parts.push('"');
  while (!scanner.isAtEnd) {
    const char = scanner.take();
    if (char === '#' && scanner.peek() === '{') {
      const code = takeEmbeddedRuby(scanner);
      if (code === null) return false;
      embeddedRuby.push(code.trim());
      parts.push(JSON.stringify(`#{${code}}`).slice(1, -1));
      continue;
    }
    parts.push(char);
    if (char === '"') return true;
    if (char === '\\') parts.push(scanner.take());
  }
  return false;
}
