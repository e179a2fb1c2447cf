/** A unified diff, as two texts a hunk: for the piece that compares texts. */
export interface Hunk {
  before: string;
  after: string;
  /** Line numbers of the first lines, from 1. */
  beforeLine: number;
  afterLine: number;
}

const HEAD = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** What stands before the first hunk, and notes such as `\ No newline at end of file`, is left out. */
export function hunksOf(diff: string): Hunk[] {
  const hunks: { before: string[]; after: string[]; beforeLine: number; afterLine: number }[] = [];
  for (const line of diff.split('\n')) {
    const head = HEAD.exec(line);
    if (head) {
      hunks.push({ before: [], after: [], beforeLine: Number(head[1]), afterLine: Number(head[2]) });
      continue;
    }
    const hunk = hunks.at(-1);
    if (!hunk || line.startsWith('\\')) continue;
    const text = line.slice(1);
    if (line.startsWith('-')) hunk.before.push(text);
    else if (line.startsWith('+')) hunk.after.push(text);
    else if (line.startsWith(' ')) {
      hunk.before.push(text);
      hunk.after.push(text);
    }
  }
  return hunks.map(({ before, after, ...lines }) => ({
    before: before.join('\n'),
    after: after.join('\n'),
    ...lines,
  }));
}
