/** `.headgateignore`: the patterns of .gitignore, bounded so that no pattern can be slow. */
import ignore from 'ignore';
import type { Finding } from '../finding.ts';

export const IGNORE_FILE = '.headgateignore';
const MAX_LINES = 1000;
const MAX_LINE = 256;
/** Every star multiplies the ways in which a name can match. */
const MAX_STARS_IN_SEGMENT = 3;
const MAX_DOUBLE_STARS = 3;

export interface IgnoreRules {
  /** The path is relative to the ignore file's folder; folders end with a slash. */
  ignores(path: string): boolean;
}

function isSlow(line: string): boolean {
  const segments = line.split('/');
  if (segments.filter((segment) => segment === '**').length > MAX_DOUBLE_STARS) return true;
  return segments.some(
    (segment) => segment.replace(/\*+/g, '*').split('*').length - 1 > MAX_STARS_IN_SEGMENT,
  );
}

export function parseIgnoreFile(text: string): { rules: IgnoreRules; findings: Finding[] } {
  const findings: Finding[] = [];
  const matcher = ignore();
  const lines = text.split(/\r?\n/);
  if (lines.length > MAX_LINES) {
    findings.push({
      stage: 'source',
      message: `the ignore file has more than ${MAX_LINES} lines; the lines after that are not read`,
      hint: 'Ignore whole folders rather than single files.',
      line: MAX_LINES + 1,
      column: 1,
    });
  }
  for (const [index, line] of lines.slice(0, MAX_LINES).entries()) {
    if (line.length > MAX_LINE || isSlow(line)) {
      findings.push({
        stage: 'source',
        message: 'this pattern is too long or has too many stars and is not used',
        hint: `Use at most ${MAX_LINE} characters, ${MAX_STARS_IN_SEGMENT} stars between two slashes and ${MAX_DOUBLE_STARS} double stars.`,
        line: index + 1,
        column: 1,
      });
      continue;
    }
    matcher.add(line);
  }
  return { rules: { ignores: (path) => matcher.ignores(path) }, findings };
}
