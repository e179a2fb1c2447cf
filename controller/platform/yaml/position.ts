/** Line and column of an offset in a text, both from 1. */
export function formatPosition(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
    start = at + 1;
  }
  return { line, column: offset - start + 1 };
}

/** A name or text from outside, safe to print. */
export function printable(name: string): string {
  const clean = name.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
  return clean.length > 500 ? `${clean.slice(0, 500)}…` : clean;
}
