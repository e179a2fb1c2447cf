/** Patterns of keys: `*` stands for any characters, case does not count. */

/** Keys that are longer are taken for hidden: they could be cut before a pattern is found in them. */
export const MAX_KEY_CHARS = 256;
const REMEMBERED = 5_000;

function matcherOf(pattern: string): (key: string) => boolean {
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

/** Whether the value behind a key is to be hidden. Keys come again and again: what was found is remembered. */
export function keyMatcher(patterns: readonly string[]): (key: string) => boolean {
  const matchers = patterns.map(matcherOf);
  const known = new Map<string, boolean>();
  return (key) => {
    if (matchers.length === 0) return false;
    if (key.length > MAX_KEY_CHARS) return true;
    let hidden = known.get(key);
    if (hidden === undefined) {
      const folded = key.toLowerCase();
      hidden = matchers.some((matches) => matches(folded));
      if (known.size >= REMEMBERED) known.clear();
      known.set(key, hidden);
    }
    return hidden;
  };
}
