/** The values of the quick reader that stand on one line: scalars, and collections in brackets. */
import { FILE_KEY } from './file-reference.ts';
import { hasPlaceholder } from './values.ts';

/** Thrown at whatever is left to the library; made once, for its stack is of no interest. */
export const GIVE_UP = new Error('this YAML is left to the library');

/** A place in a line, and what was seen on the way there. */
export interface QuickLine {
  readonly text: string;
  /** Where to read on, in the line that ends at `end`. */
  at: number;
  end: number;
  hasFiles: boolean;
  hasPlaceholders: boolean;
}

const MAX_DEPTH = 20;
/** The library refuses keys of more than 1024 characters. */
const MAX_KEY = 500;
const KEY = /(?:([A-Za-z_$][\w$./-]*)|"([^"\\\n]*)"|'([^'\n]*)'):(?= |\n|$)/y;
/** What a plain scalar may begin with; the first characters that mean something to YAML are not among them. */
const PLAIN = /[A-Za-z0-9_/$.+(=^<~\u00a1-\ud7ff]|-[A-Za-z0-9._/$]/y;
const FLOW_PLAIN = /[^,[\]{}:#\n]+/y;
const DOUBLE_QUOTED = /"(?:[^"\\\n]|\\[\\"nt])*"/y;
const SINGLE_QUOTED = /'(?:[^'\n]|'')*'/y;
/** Everything that the library could take for a number. */
const NUMBER = /^(?:[-+]?\.?[0-9][0-9a-fA-FxoeE.+-]*|[-+]?\.(?:inf|nan))$/i;
const SIMPLE_NUMBER = /^(?:0|-?[1-9][0-9]{0,14}|-?[0-9]{1,9}\.[0-9]{1,9})$/;
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...['~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
]);

export function skipSpaces(line: QuickLine): void {
  while (line.text.charCodeAt(line.at) === 32) line.at += 1;
}

/** The key that stands here with its colon, which it moves behind; null where there is none. */
export function readKey(line: QuickLine): string | null {
  KEY.lastIndex = line.at;
  const found = KEY.exec(line.text);
  if (!found) return null;
  const key = found[1] ?? found[2] ?? found[3] ?? '';
  if (key.length > MAX_KEY || key === '__proto__') throw GIVE_UP;
  if (found[1] !== undefined && WORDS.get(key) === null) throw GIVE_UP;
  if (key === FILE_KEY) line.hasFiles = true;
  line.at = KEY.lastIndex;
  return key;
}

export function addTo(map: Record<string, unknown>, key: string, value: unknown): void {
  if (Object.hasOwn(map, key)) throw GIVE_UP;
  map[key] = value;
}

export function readText(line: QuickLine, text: string): string {
  if (!line.hasPlaceholders && hasPlaceholder(text)) line.hasPlaceholders = true;
  return text;
}

function plainValue(line: QuickLine, text: string): unknown {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (!NUMBER.test(text)) return readText(line, text);
  // `-0` and `-0.0` keep their sign in the library and are numbers that nobody means.
  if (!SIMPLE_NUMBER.test(text) || (Number(text) === 0) !== (text === '0')) throw GIVE_UP;
  return Number(text);
}

function matched(pattern: RegExp, line: QuickLine): string {
  pattern.lastIndex = line.at;
  const found = pattern.exec(line.text)?.[0];
  if (found === undefined) throw GIVE_UP;
  line.at = pattern.lastIndex;
  return found;
}

function quoted(line: QuickLine): string {
  if (line.text[line.at] === '"') {
    const written = matched(DOUBLE_QUOTED, line);
    return readText(line, written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1));
  }
  return readText(line, matched(SINGLE_QUOTED, line).slice(1, -1).replaceAll("''", "'"));
}

function flowPlain(line: QuickLine): unknown {
  const begin = line.at;
  matched(PLAIN, line);
  line.at = begin;
  for (;;) {
    matched(FLOW_PLAIN, line);
    const code = line.text[line.at];
    if (code !== ':' && code !== '#') break;
    if (code === '#' && line.text[line.at - 1] === ' ') throw GIVE_UP;
    if (code === ':' && /[ ,[\]{}\n]|^$/.test(line.text.charAt(line.at + 1))) throw GIVE_UP;
    line.at += 1;
    if (/[,[\]{}:#\n]|^$/.test(line.text.charAt(line.at))) throw GIVE_UP;
  }
  return plainValue(line, withoutEndSpaces(line.text, begin, line.at));
}

function withoutEndSpaces(text: string, begin: number, end: number): string {
  let last = end;
  while (text.charCodeAt(last - 1) === 32) last -= 1;
  return text.slice(begin, last);
}

function flowList(line: QuickLine, depth: number): unknown[] {
  const list: unknown[] = [];
  line.at += 1;
  skipSpaces(line);
  if (line.text[line.at] !== ']') {
    list.push(flow(line, depth));
    while (followedBy(line, ',', ']')) list.push(flow(line, depth));
  }
  line.at += 1;
  return list;
}

function flowMap(line: QuickLine, depth: number): Record<string, unknown> {
  const map: Record<string, unknown> = {};
  const pair = () => {
    const key = readKey(line);
    if (key === null) throw GIVE_UP;
    skipSpaces(line);
    addTo(map, key, flow(line, depth));
  };
  line.at += 1;
  skipSpaces(line);
  if (line.text[line.at] !== '}') {
    pair();
    while (followedBy(line, ',', '}')) pair();
  }
  line.at += 1;
  return map;
}

/** True after a comma, which it skips; false before the closing bracket. */
function followedBy(line: QuickLine, comma: string, close: string): boolean {
  skipSpaces(line);
  const next = line.text[line.at];
  if (next === close) return false;
  if (next !== comma) throw GIVE_UP;
  line.at += 1;
  skipSpaces(line);
  return true;
}

/** What begins with a quote or bracket, or stands within brackets. */
export function flow(line: QuickLine, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw GIVE_UP;
  switch (line.text[line.at]) {
    case '[':
      return flowList(line, depth + 1);
    case '{':
      return flowMap(line, depth + 1);
    case '"':
    case "'":
      return quoted(line);
    default:
      return flowPlain(line);
  }
}

/** A plain scalar outside of brackets, up to the end of the line or a comment. */
export function plainScalar(line: QuickLine): unknown {
  const begin = line.at;
  matched(PLAIN, line);
  const comment = line.text.indexOf(' #', begin);
  const written = withoutEndSpaces(line.text, begin, comment < 0 || comment > line.end ? line.end : comment);
  if (written.includes(': ') || written.endsWith(':')) throw GIVE_UP;
  line.at = line.end;
  return plainValue(line, written);
}
