import { LIMITS } from '../limits.ts';

/** Shorter values would blank out half of every line and hide nothing. */
const SHORTEST = 4;
/** The same for one line of a value that has several: `}` or `true` may stand anywhere. */
const SHORTEST_LINE = 8;
const BLANK = '[redacted]';

/** Cleans one line of an engine: secrets out, NUL out, at most the protocol's length. */
export type Redactor = (line: string, cut?: boolean) => string;

/** Knows the values that one engine was given, also as they look inside JSON, a URL or base64. */
export function redactor(secrets: Iterable<string>): Redactor {
  const forms = formsOf(secrets);
  const longest = forms[0]?.length ?? 0;
  return (line, cut = false) => {
    let text = without(forms, line);
    if (text.includes('\0')) text = text.replaceAll('\0', '\uFFFD');
    // Where the end of the line is missing, it may end in the first half of a secret.
    if (cut) text = text.slice(0, Math.max(0, text.length - longest));
    return text.length > LIMITS.logLineChars ? text.slice(0, LIMITS.logLineChars) : text;
  };
}

/** The same for a text of any length, of which nothing but the secrets is changed. */
export function blanker(secrets: Iterable<string>): (text: string) => string {
  const forms = formsOf(secrets);
  return (text) => without(forms, text);
}

/** One by one: a pattern of them all would be too large for the runtime where a secret is. */
function without(forms: readonly string[], line: string): string {
  let text = line;
  for (const form of forms) if (text.includes(form)) text = text.replaceAll(form, BLANK);
  return text;
}

/** All that must not be seen, the longest first, so that one that holds another goes as a whole. */
function formsOf(secrets: Iterable<string>): string[] {
  const forms = new Set<string>();
  for (const value of secrets) {
    if (value.length < SHORTEST) continue;
    forms.add(value);
    // Engines write by the line, so a value of several lines is seen in parts.
    const lines = value.includes('\n') ? value.split(/\r?\n/) : [];
    for (const line of lines) if (line.length >= SHORTEST_LINE) forms.add(line);
    forms.add(JSON.stringify(value).slice(1, -1));
    forms.add(encodeUri(value));
    forms.add(Buffer.from(value).toString('base64'));
  }
  return [...forms].sort((a, b) => b.length - a.length);
}

/** A lone surrogate cannot be encoded; such a value has no URL form. */
function encodeUri(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return value;
  }
}
