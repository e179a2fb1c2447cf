/** Strings, raw strings, regexes, times and comments: what is in them is no code. */
const NO_CODE = /"(?:[^"\\]|\\[\s\S])*"|[srt]'(?:[^'\\]|\\[\s\S])*'|#[^\n]*/g;

/** An assignment to the event or its metadata, or a call of `del` on either. */
const CHANGE =
  /(?:^|[\s;{(,])([.%][\w@.[\]"-]*(?:\s*,\s*[\w.%]+)?)\s*(?:\|=|\?\?=|=(?![=>]))|\bdel\(\s*[.%]|(?:^|[\s;{(])\w+\s*,\s*([.%][\w@.]*)\s*=(?!=)/g;

/** Where a program changes the event, which a condition may not; undefined where it does not. */
export function findEventChange(text: string): { start: number; end: number } | undefined {
  // Names of fields may be in quotes, so quotes stay and only what is between them is blanked.
  const code = text.replace(NO_CODE, (match) =>
    match.startsWith('"')
      ? `"${'_'.repeat(Math.max(0, match.length - 2))}"`.padEnd(match.length)
      : ' '.repeat(match.length),
  );
  CHANGE.lastIndex = 0;
  const match = CHANGE.exec(code);
  if (!match) return undefined;
  const target = match[1] ?? match[2] ?? match[0];
  const start = match.index + match[0].indexOf(target);
  return { start, end: start + target.trimEnd().length };
}
