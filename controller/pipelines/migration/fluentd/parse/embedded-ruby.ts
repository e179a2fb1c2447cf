/** Finds the end of `#{…}`: braces and strings of Ruby are counted, nothing is evaluated. */
import type { Scanner } from './scanner.ts';

/** Strings in code in strings; nobody writes more. */
const MAX_NESTING = 16;

/** The scanner stands at `{`. Returns the code and leaves the scanner after `}`; null if the code does not end. */
export function takeEmbeddedRuby(scanner: Scanner): string | null {
  const start = scanner.pos + 1;
  /** What was opened and is not closed: `}` in code, or the quote of a string. */
  const open: string[] = ['}'];
  scanner.pos += 1;
  while (!scanner.isAtEnd && open.length <= MAX_NESTING) {
    const char = scanner.take();
    const closing = open.at(-1);
    if (char === '\\') scanner.pos += 1;
    else if (char === closing) {
      open.pop();
      if (open.length === 0) return scanner.text.slice(start, scanner.pos - 1);
    } else if (closing === '}') {
      if (char === '{') open.push('}');
      else if (char === '"' || char === "'") open.push(char);
    } else if (closing === '"' && char === '#' && scanner.peek() === '{') {
      scanner.pos += 1;
      open.push('}');
    }
  }
  return null;
}
