import { LIMITS } from '../limits.ts';
import { escapeForYaml } from '../supervise/engine/quoted-secrets.ts';

/** Shorter values would blank out half of every line and hide nothing. */
const SHORTEST = 4;
/** The same for one line of a value that has several: `}` or `true` may stand anywhere. */
const SHORTEST_LINE = 8;
const SHORTEST_NUMBER = 3;
const LONGEST_NUMBER = 64;
const BLANK = '[redacted]';

/** Cleans one line of an engine: secrets out, NUL out, at most the protocol's length. */
export type Redactor = (line: string, cut?: boolean) => string;

/** Knows the values that one engine was given, also as they look inside JSON, YAML, a URL, base64, or read as a number. */
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
  for (const form of forms) {
    if (!text.includes(form)) continue;
    text = isShort(form) ? text.replace(wholeNumber(form), BLANK) : text.replaceAll(form, BLANK);
  }
  return text;
}

/** A number of three digits is a part of many others. */
const isShort = (form: string): boolean => form.length < SHORTEST;
const wholeNumber = (form: string): RegExp =>
  new RegExp(`(?<![\\w.])${form.replace('.', '\\.')}(?:\\.0)?(?![\\w])`, 'g');

/** All that must not be seen, the longest first, so that one that holds another goes as a whole. */
function formsOf(secrets: Iterable<string>): string[] {
  const forms = new Set<string>();
  for (const value of secrets) {
    for (const number of numbersOf(value)) forms.add(number);
    if (value.length < SHORTEST) continue;
    forms.add(value);
    // Engines write by the line, so a value of several lines is seen in parts.
    const lines = /[\r\n]/.test(value) ? value.split(/[\r\n]+/) : [];
    for (const line of lines) {
      if (line.length < SHORTEST_LINE) continue;
      forms.add(line);
      forms.add(escapeForYaml(line));
    }
    forms.add(JSON.stringify(value).slice(1, -1));
    forms.add(escapeForYaml(value));
    forms.add(debugForm(value));
    forms.add(encodeUri(value));
    forms.add(Buffer.from(value).toString('base64'));
  }
  return [...forms].sort((a, b) => b.length - a.length);
}

/** As Rust prints a text between quotes. */
const debugForm = (value: string): string =>
  value.replace(
    /["\\]|[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]/g,
    (found) => DEBUG_ESCAPES[found] ?? `\\u{${found.charCodeAt(0).toString(16)}}`,
  );
const DEBUG_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** An engine prints a value that YAML reads as a number in another form: `0123` as `123`, `1e5` as `100000`. */
function numbersOf(value: string): string[] {
  if (value.length > LONGEST_NUMBER) return [];
  if (!/^[+-]?(?:0x[0-9a-f]+|0o[0-7]+|[0-9_]*\.?[0-9_]+(?:e[+-]?\d{1,3})?\.?)$/i.test(value)) return [];
  const plain = value.replaceAll('_', '').replace(/^\+/, '');
  const forms = [String(Number(plain))];
  // Larger ones are not exact as numbers.
  if (/^-?\d+$/.test(plain)) forms.push(String(BigInt(plain)));
  // Octal in YAML 1.1.
  if (/^0[0-7]+$/.test(plain)) forms.push(String(Number.parseInt(plain, 8)));
  return forms.filter((form) => /^-?\d[\d.e+]*$/.test(form) && form.length >= SHORTEST_NUMBER);
}

/** A lone surrogate cannot be encoded; such a value has no URL form. */
function encodeUri(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return value;
  }
}
