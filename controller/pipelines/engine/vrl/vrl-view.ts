/** A program as the VRL compiler at hand can read it: what the engine sees, without the escapes that are too new for it. */
import { type EngineView, engineView } from '../engine-view.ts';

// Comments are passed over, and so are raw strings, regular expressions and times, which know no such escape.
const TOKEN = /#[^\n]*|[rst]'(?:\\[\s\S]|[^'\\])*'|"(?:\\[\s\S]|[^"\\])*"/g;
const ESCAPE = /\\(?:u\{([0-9A-Fa-f]{1,6})\}|[\s\S])/g;
/** Of VRL: characters that stand in a string by an escape only. */
const ESCAPED: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
  '{': '\\{',
  '}': '\\}',
};

/** What is written as `\u{1b}` becomes the character itself; one that is no character stays, and is refused. */
export function vrlView(source: string): EngineView {
  return withPlainCharacters(engineView(source));
}

/** For a text in which a dollar is a dollar. */
export function literalVrlView(source: string): EngineView {
  return withPlainCharacters({ text: source, written: (offset) => offset });
}

function withPlainCharacters(view: EngineView): EngineView {
  if (!view.text.includes('\\u{')) return view;
  const shifts: { at: number; by: number }[] = [];
  let shift = 0;
  const text = view.text.replaceAll(TOKEN, (token: string, start: number) => {
    if (!token.startsWith('"')) return token;
    return token.replaceAll(ESCAPE, (match: string, hex: string | undefined, at: number) => {
      const character = hex === undefined ? undefined : characterOf(Number.parseInt(hex, 16));
      if (character === undefined) return match;
      const plain = ESCAPED[character] ?? character;
      const seenAt = start + at - shift;
      shift += match.length - plain.length;
      shifts.push({ at: seenAt + plain.length, by: shift });
      return plain;
    });
  });
  return {
    text,
    written: (offset) => view.written(offset + (shifts.findLast(({ at }) => at <= offset)?.by ?? 0)),
  };
}

/** Undefined for halves of surrogate pairs and what lies beyond Unicode. */
function characterOf(code: number): string | undefined {
  return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? undefined : String.fromCodePoint(code);
}
