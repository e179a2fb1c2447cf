/** Patterns of `<match>` and `<filter>`: docs.fluentd.org/configuration/config-file#how-do-match-patterns-work. */
import { NotInterpreted } from './event.ts';
import { toRegExp } from './ruby-regexp.ts';

const LITERAL = /[\\^$.|?+()[\]]/g;

/** Several patterns stand between blanks: any may match. */
export function createTagMatcher(pattern: string): (tag: string) => boolean {
  const matchers = splitPatterns(pattern).map((one) => {
    if (one.includes('#{')) throw new NotInterpreted(`the pattern "${one}" holds Ruby`);
    const regexp =
      one.length > 1 && one.startsWith('/') && one.endsWith('/') ? toRegExp(one) : globToRegExp(one);
    return (tag: string) => regexp.test(tag);
  });
  return (tag) => matchers.some((matches) => matches(tag));
}

/** A regular expression may hold blanks. */
function splitPatterns(pattern: string): string[] {
  const trimmed = pattern.trim();
  if (trimmed.startsWith('/')) return [trimmed];
  return trimmed === '' ? ['**'] : trimmed.split(/\s+/);
}

function globToRegExp(glob: string): RegExp {
  let out = '';
  let depth = 0;
  for (let at = 0; at < glob.length; at += 1) {
    const char = glob[at] ?? '';
    if (char === '*' && glob[at + 1] === '*') {
      at += 1;
      if (glob[at + 1] === '.') {
        // `**.a` is also `a`.
        at += 1;
        out += '(?:.*\\.|^)';
      } else if (out.endsWith('\\.')) {
        // `a.**` is also `a`.
        out = `${out.slice(0, -2)}(?:\\..*|$)`;
      } else out += '.*';
    } else if (char === '*') out += '[^.]*';
    else if (char === '{') {
      depth += 1;
      out += '(?:';
    } else if (char === '}' && depth > 0) {
      depth -= 1;
      out += ')';
    } else if (char === ',' && depth > 0) out += '|';
    else out += char.replace(LITERAL, '\\$&');
  }
  if (depth > 0) throw new NotInterpreted(`the pattern "${glob}" has a brace without its end`);
  return new RegExp(`^(?:${out})$`);
}
