/** Splits a Ruby expression into tokens: as much of the language as configurations really have. */

export type RubyToken =
  | { type: 'number' | 'name' | 'constant' | 'symbol' | 'operator' | 'regexp'; text: string }
  /** Texts and the code in them, in order. */
  | { type: 'string'; parts: readonly (string | { code: string })[] };

const MAX_CHARS = 4_096;
const OPERATORS = [
  ...[
    '...',
    '<=>',
    '===',
    '||',
    '&&',
    '==',
    '!=',
    '=~',
    '!~',
    '<=',
    '>=',
    '=>',
    '::',
    '&.',
    '..',
    '<<',
    '**',
  ],
  ...[
    '+',
    '-',
    '*',
    '/',
    '%',
    '<',
    '>',
    '!',
    '?',
    ':',
    '.',
    ',',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '=',
    ';',
    '|',
    '&',
  ],
];
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', s: ' ', '0': '\0', e: '\x1b' };

/** Null if the text is not understood. */
export function rubyTokens(text: string): RubyToken[] | null {
  if (text.length > MAX_CHARS) return null;
  const tokens: RubyToken[] = [];
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at, at + 128);
    const blank = /^\s+/.exec(rest);
    if (blank) {
      at += blank[0].length;
      continue;
    }
    const char = text[at] ?? '';
    if (char === '"' || char === "'") {
      const string = readString(text, at);
      if (!string) return null;
      tokens.push(string.token);
      at = string.end;
      continue;
    }
    if (char === '/' && beginsRegexp(tokens.at(-1))) {
      const end = regexpEnd(text, at);
      if (end === null) return null;
      tokens.push({ type: 'regexp', text: text.slice(at, end) });
      at = end;
      continue;
    }
    const word =
      /^(?:(?<number>\d[\d_]*(?:\.\d+)?)|(?<name>[a-z_]\w*[?!]?)|(?<constant>[A-Z]\w*)|(?<symbol>:[a-z_]\w*))/.exec(
        rest,
      );
    if (word?.groups) {
      const [type, written] = Object.entries(word.groups).find(([, value]) => value !== undefined) ?? [];
      // `a ? b : c` without blanks, and `a != b`.
      const clean =
        type === 'name'
          ? (written ?? '').replace(/[?!]$/, (mark) =>
              rest[word[0].length] === '=' && mark === '!' ? '' : mark,
            )
          : (written ?? '');
      tokens.push({ type: type as 'name', text: clean });
      at += clean.length;
      continue;
    }
    const operator = OPERATORS.find((candidate) => text.startsWith(candidate, at));
    if (operator === undefined) return null;
    tokens.push({ type: 'operator', text: operator });
    at += operator.length;
  }
  return tokens;
}

/** After an operand a slash divides. */
function beginsRegexp(before: RubyToken | undefined): boolean {
  if (!before) return true;
  return before.type === 'operator' && ![')', ']', '}'].includes(before.text);
}

function regexpEnd(text: string, start: number): number | null {
  let inClass = false;
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) {
      let end = at + 1;
      while (/^[imxo]$/.test(text[end] ?? '')) end += 1;
      return end;
    }
  }
  return null;
}

function readString(text: string, start: number): { token: RubyToken; end: number } | null {
  const quote = text[start];
  const parts: (string | { code: string })[] = [];
  let literal = '';
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (char === quote) return { token: { type: 'string', parts: [...parts, literal] }, end: at + 1 };
    if (char === '\\') {
      const next = text[at + 1] ?? '';
      const isPlain = quote === "'" && next !== "'" && next !== '\\';
      literal += isPlain ? `\\${next}` : quote === '"' ? (ESCAPES[next] ?? next) : next;
      at += 1;
    } else if (quote === '"' && char === '#' && text[at + 1] === '{') {
      const end = codeEnd(text, at + 2);
      if (end === null) return null;
      parts.push(literal, { code: text.slice(at + 2, end) });
      literal = '';
      at = end;
    } else literal += char;
  }
  return null;
}

/** The place of the `}` that closes what began before `start`. Strings may have braces. */
export function codeEnd(text: string, start: number): number | null {
  let depth = 1;
  let quote = '';
  for (let at = start; at < text.length && at - start < MAX_CHARS; at += 1) {
    const char = text[at] ?? '';
    if (quote !== '') {
      if (char === '\\') at += 1;
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '{') depth += 1;
    else if (char === '}') {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return null;
}
