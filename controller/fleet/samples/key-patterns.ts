/** Matches keys against patterns: `*` stands for any characters, case is ignored. */

/** Longer keys are always redacted: they could be truncated before a pattern matches. */
export const MAX_KEY_CHARS = 256;
const MAX_CACHED_KEYS = 5_000;

function compilePattern(pattern: string): (key: string) => boolean {
  const parts = pattern.toLowerCase().split('*');
  const [first = ''] = parts;
  if (parts.length === 1) return (key) => key === first;
  const last = parts.at(-1) ?? '';
  const middle = parts.slice(1, -1).filter((part) => part !== '');
  return (key) => {
    if (key.length < first.length + last.length || !key.startsWith(first) || !key.endsWith(last))
      return false;
    let at = first.length;
    for (const part of middle) {
      const found = key.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= key.length - last.length;
  };
}

/** Returns a function that decides whether the value of a key is redacted. Keys repeat often, so results are cached. */
export function keyMatcher(patterns: readonly string[]): (key: string) => boolean {
  const matchers = patterns.map(compilePattern);
  const known = new Map<string, boolean>();
  return (key) => {
    if (matchers.length === 0) return false;
    if (key.length > MAX_KEY_CHARS) return true;
    let hidden = known.get(key);
    if (hidden === undefined) {
      const folded = key.toLowerCase();
      hidden = matchers.some((matches) => matches(folded));
      if (known.size >= MAX_CACHED_KEYS) known.clear();
      known.set(key, hidden);
    }
    return hidden;
  };
}
