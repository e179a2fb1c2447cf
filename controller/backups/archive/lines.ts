/** Lines of a part. */
const NEWLINE = 10;

/** Line by line: joined they would be a large string first. */
export function linesOf(lines: readonly string[]): Buffer {
  const content = Buffer.allocUnsafe(lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0));
  let at = 0;
  for (const line of lines) {
    at += content.write(line, at);
    content[at++] = NEWLINE;
  }
  return content;
}

export function countLines(content: Buffer): number {
  let lines = 0;
  for (let at = content.indexOf(NEWLINE); at !== -1; at = content.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

/** Without their ends. */
export function* eachLine(content: Buffer): Generator<string> {
  for (let from = 0; from < content.length; ) {
    const found = content.indexOf(NEWLINE, from);
    const end = found === -1 ? content.length : found;
    yield content.toString('utf8', from, end);
    from = end + 1;
  }
}
