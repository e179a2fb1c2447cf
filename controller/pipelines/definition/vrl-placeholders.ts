/**
 * Where the placeholders of secrets stand in a VRL program. The engine replaces them in the text before VRL reads it, so
 * a value is code wherever it is not escaped for the place.
 */
import { vrlVariable } from '../../secrets/index.ts';

/** `text`: in a string in double quotes. All others but `comment` cannot take a value without running it. */
type Place = 'text' | 'comment' | 'code' | 'raw' | 'regex' | 'time' | 'template' | 'field' | 'escaped';

export interface VrlPlaceholder {
  /** In UTF-16 units. */
  start: number;
  /** As it is written. */
  written: string;
  variable: string;
  /** `:-text`, `?text` and the like; empty where there is none. */
  rest: string;
  place: Place;
}

/**
 * `$$`; placeholders as the engine finds them (what follows a name is bounded, so that looking takes linear time); an
 * escape; what begins and ends comments, strings, raw literals and templates.
 */
const TOKEN =
  /\$\$|\$\{([\w.]+)((?::?[-?])[^}]{0,1024})?\}|\$([\w.]+)|\\[^$\n]?|[#"\n]|(?<!\w)[srt]'|'|\{\{|\}\}/g;
const SECRET = /^SVC_SECRET_[A-Z0-9_]+$/;
const RAW: Readonly<Record<string, Place>> = { "s'": 'raw', "r'": 'regex', "t'": 'time' };

/** Every placeholder of a secret, in order. */
export function vrlPlaceholders(source: string): VrlPlaceholder[] {
  const found: VrlPlaceholder[] = [];
  let place: Place = 'code';
  let backslashEnd = -1;
  for (const match of source.matchAll(TOKEN)) {
    const [token, braced, rest = '', bare] = match;
    const start = match.index;
    const variable = braced ?? bare;
    if (variable !== undefined) {
      // A default of several lines ends the comment.
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

/** The program with the escaped form of each secret where that is text. What `whyNot` refuses stays as it is. */
export function withVrlForms(source: string): string {
  let text = '';
  let end = 0;
  for (const { start, written, variable, rest, place } of vrlPlaceholders(source)) {
    if (place !== 'text' && place !== 'comment') continue;
    text += `${source.slice(end, start)}\${${vrlVariable(variable)}${rest}}`;
    end = start + written.length;
  }
  return text + source.slice(end);
}

/** Why a secret cannot stand there, and what to write instead; null where it can. */
export function whyNot({
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
            message: `the default of ${written} holds a quote, a backslash or {{, which would be read as VRL`,
            hint: 'write a default without them',
          }
        : null;
    case 'code':
      return {
        message: `${written} stands outside of a string, so its value would be run as VRL`,
        hint: `write it in double quotes: ${inQuotes}; for a number, to_int!(${inQuotes})`,
      };
    case 'raw':
      return {
        message: `${written} stands in a raw string, which a value with ' would end`,
        hint: `write it in double quotes: ${inQuotes}`,
      };
    case 'regex':
      return {
        message: `${written} stands in a regular expression, which its value would become a part of`,
        hint: `compare with a string in double quotes, for example contains(string!(.message), ${inQuotes})`,
      };
    case 'time':
      return {
        message: `${written} stands in a timestamp, which is read before the value is known`,
        hint: `parse it: parse_timestamp!(${inQuotes}, format: "%+")`,
      };
    case 'template':
      return {
        message: `${written} stands between {{ and }}, so its value would be run as VRL`,
        hint: `put it into a variable first: key = ${inQuotes}`,
      };
    case 'field':
      return {
        message: `${written} stands in the name of a field`,
        hint: `set the field by its path: . = set!(., [${inQuotes}], "the value")`,
      };
    case 'escaped':
      return {
        message: `${written} stands behind a backslash, which would escape the first character of its value`,
        hint: `write ${inQuotes} without the backslash, or \\\\ for a backslash`,
      };
  }
}
