import { LIMITS } from '../limits.ts';

/** Shorter values would blank out half of every line and hide nothing. */
const SHORTEST = 4;

/** Cleans one line of an engine: secrets out, NUL out, at most the protocol's length. */
export type Redactor = (line: string, cut?: boolean) => string;

/** Knows the values that one engine was given, also as they look inside JSON, a URL or base64. */
export function redactor(secrets: Iterable<string>): Redactor {
  const forms = new Set<string>();
  for (const value of secrets) {
    if (value.length < SHORTEST) continue;
    forms.add(value);
    forms.add(JSON.stringify(value).slice(1, -1));
    forms.add(encodeUri(value));
    forms.add(Buffer.from(value).toString('base64'));
  }
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  const longest = longestFirst[0]?.length ?? 0;
  const pattern = longest > 0 ? new RegExp(longestFirst.map(literally).join('|'), 'g') : undefined;
  return (line, cut = false) => {
    let text = pattern ? line.replace(pattern, '[redacted]') : line;
    if (text.includes('\0')) text = text.replaceAll('\0', '\uFFFD');
    // Where the end of the line is missing, it may end in the first half of a secret.
    if (cut) text = text.slice(0, Math.max(0, text.length - longest));
    return text.length > LIMITS.logLineChars ? text.slice(0, LIMITS.logLineChars) : text;
  };
}

/** A lone surrogate cannot be encoded; such a value has no URL form. */
function encodeUri(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return value;
  }
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
