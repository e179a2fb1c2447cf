/** Regular expressions of Ruby as those of JavaScript, where both mean the same. Run where they may be ended: some never are. */
import { NotInterpreted } from './event.ts';

/** What JavaScript reads otherwise, or not at all. */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [/\(\?>/, 'an atomic group'],
  [/[*+?}]\+/, 'a possessive quantifier'],
  [/\\[GKRX]/, 'an anchor of Ruby'],
  [/\\g</, 'a call of a group'],
  [/\(\?[imx-]+\)/, 'a switch in its middle'],
  [/&&\[/, 'an intersection'],
  [/\[\[:\^?\w+:\]/, 'a POSIX class'],
];

/** `/…/im`, or the expression alone. */
export function toRegExp(text: string): RegExp {
  const literal = /^\/([\s\S]*)\/([imx]*)$/.exec(text.trim());
  const source = literal?.[1] ?? text;
  const flags = literal?.[2] ?? '';
  if (flags.includes('x')) throw new NotInterpreted('a regular expression with comments (x)');
  const found = FOREIGN.find(([pattern]) => pattern.test(source));
  if (found) throw new NotInterpreted(`a regular expression with ${found[1]}`);
  const converted = convertEscapes(source);
  try {
    // In Ruby ^ and $ are at lines, and m is the dot that takes line breaks.
    return new RegExp(converted, `m${flags.includes('i') ? 'i' : ''}${flags.includes('m') ? 's' : ''}`);
  } catch {
    throw new NotInterpreted(`the regular expression /${source.slice(0, 100)}/ is one of Ruby alone`);
  }
}

/** Outside of a class, and inside of one. */
const ESCAPES: Readonly<Record<string, readonly [string, string | null]>> = {
  h: ['[0-9a-fA-F]', '0-9a-fA-F'],
  A: ['(?<![\\s\\S])', null],
  z: ['(?![\\s\\S])', null],
  Z: ['(?=\\n?(?![\\s\\S]))', null],
};

function convertEscapes(source: string): string {
  let isInClass = false;
  return source.replaceAll(/\\([\s\S])|[[\]]/g, (match: string, letter: string | undefined) => {
    if (letter === undefined) {
      isInClass = match === '[';
      return match;
    }
    const converted = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
    if (!converted) return match;
    const text = isInClass ? converted[1] : converted[0];
    if (text === null) throw new NotInterpreted(`\\${letter} inside of a class of characters`);
    return text;
  });
}
