/**
 * Finds the placeholders of secrets in a VRL program. The engine replaces them before VRL reads the text, so a value that is
 * not escaped for its context is executed as code.
 */
import { vrlVariable } from '../../secrets/index.ts';

/** `text`: in a double-quoted string. All others except `comment` would execute a value. */
type PlaceholderContext =
  | 'text'
  | 'comment'
  | 'code'
  | 'raw'
  | 'regex'
  | 'time'
  | 'template'
  | 'field'
  | 'escaped';

export interface VrlPlaceholder {
  /** Offset in UTF-16 units. */
  start: number;
  /** The placeholder as written. */
  written: string;
  variable: string;
  /** `:-text`, `?text` and the like; empty if there is none. */
  rest: string;
  place: PlaceholderContext;
}

/**
 * Matches `$$`; placeholders as the engine finds them (the part after the name is bounded, so that matching takes linear time);
 * an escape; and the delimiters of comments, strings, raw literals and templates.
 */
const TOKEN =
  /\$\$|\$\{([\w.]+)((?::?[-?])[^}]{0,1024})?\}|\$([\w.]+)|\\[^$\n]?|[#"\n]|(?<!\w)[srt]'|'|\{\{|\}\}/g;
const SECRET = /^SVC_SECRET_[A-Z0-9_]+$/;
const RAW: Readonly<Record<string, PlaceholderContext>> = { "s'": 'raw', "r'": 'regex', "t'": 'time' };

/** All placeholders of secrets, in order. */
export function vrlPlaceholders(source: string): VrlPlaceholder[] {
  const found: VrlPlaceholder[] = [];
  let place: PlaceholderContext = 'code';
  let backslashEnd = -1;
  for (const match of source.matchAll(TOKEN)) {
    const [token, braced, rest = '', bare] = match;
    const start = match.index;
    const variable = braced ?? bare;
    if (variable !== undefined) {
      // A multi-line default ends the comment.
      if (place === 'comment' && rest.includes('\n')) place = 'code';
      if (!SECRET.test(variable)) continue;
      const escaped = place === 'text' && start === backslashEnd;
      found.push({ start, written: token, variable, rest, place: escaped ? 'escaped' : place });
    } else if (place === 'code') {
      if (token === '#') place = 'comment';
      else if (token === '"') place = /[.%@]/.test(source[start - 1] ?? '') ? 'field' : 'text';
      else place = RAW[token] ?? place;
    } else if (place === 'comment') {
      if (token === '\n') place = 'code';
    } else if (token === '\\') {
      backslashEnd = start + 1;
    } else if (place === 'text' || place === 'field') {
      if (token === '"') place = 'code';
      else if (token === '{{' && place === 'text') place = 'template';
    } else if (place === 'template') {
      if (token === '}}') place = 'text';
      else if (token === '"') place = 'code';
    } else if (token.endsWith("'") && !token.startsWith('\\')) {
      place = 'code';
    }
  }
  return found;
}

/** Replaces each secret in text by its escaped form. Placeholders that `describeMisplacement` refuses stay unchanged. */
export function escapeSecretsInVrl(source: string): string {
  let text = '';
  let end = 0;
  for (const { start, written, variable, rest, place } of vrlPlaceholders(source)) {
    if (place !== 'text' && place !== 'comment') continue;
    text += `${source.slice(end, start)}\${${vrlVariable(variable)}${rest}}`;
    end = start + written.length;
  }
  return text + source.slice(end);
}

/** Describes why a secret cannot be used there, and what to write instead; null if it can. */
export function describeMisplacement({
  written,
  variable,
  rest,
  place,
}: VrlPlaceholder): { message: string; hint: string } | null {
  const inQuotes = `"\${${variable}}"`;
  switch (place) {
    case 'comment':
      return null;
    case 'text':
      return /^:?-/.test(rest) && /["\\]|\{\{/.test(rest)
        ? {
            message: `the default of ${written} contains a quote, a backslash or {{, which would be read as VRL`,
            hint: 'write a default without them',
          }
        : null;
    case 'code':
      return {
        message: `${written} is outside of a string, so its value would be run as VRL`,
        hint: `write it in double quotes: ${inQuotes}; for a number, to_int!(${inQuotes})`,
      };
    case 'raw':
      return {
        message: `${written} is in a raw string, which a value with ' would end`,
        hint: `write it in double quotes: ${inQuotes}`,
      };
    case 'regex':
      return {
        message: `${written} is in a regular expression, and its value would become part of it`,
        hint: `compare with a string in double quotes, for example contains(string!(.message), ${inQuotes})`,
      };
    case 'time':
      return {
        message: `${written} is in a timestamp, which is read before the value is known`,
        hint: `parse it: parse_timestamp!(${inQuotes}, format: "%+")`,
      };
    case 'template':
      return {
        message: `${written} is between {{ and }}, so its value would be run as VRL`,
        hint: `put it into a variable first: key = ${inQuotes}`,
      };
    case 'field':
      return {
        message: `${written} is in the name of a field`,
        hint: `set the field by its path: . = set!(., [${inQuotes}], "the value")`,
      };
    case 'escaped':
      return {
        message: `${written} follows a backslash, which would escape the first character of its value`,
        hint: `write ${inQuotes} without the backslash, or \\\\ for a backslash`,
      };
  }
}
