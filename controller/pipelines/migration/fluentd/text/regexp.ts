/**
 * Translates regular expressions of Ruby (Onigmo) to the syntax of Rust, which VRL has. Both differ in escapes, flags and in
 * what `^` and `$` mean. Look-around, backreferences, atomic groups and possessive quantifiers have no counterpart.
 */
export type RegexpTranslation = { source: string; names: string[] } | { problem: string };

/** `/…/flags`, or the bare expression that older configurations have. */
export function splitRegexp(text: string): { body: string; flags: string } {
  const match = /^\/([\s\S]*)\/([imxounse]*)$/.exec(text.trim());
  return match ? { body: match[1] ?? '', flags: match[2] ?? '' } : { body: text, flags: '' };
}

const PROBLEMS: readonly [RegExp, string][] = [
  [/^\(\?[=!]/, 'look-ahead'],
  [/^\(\?<[=!]/, 'look-behind'],
  [/^\(\?>/, 'an atomic group'],
  [/^\(\?\(/, 'a condition'],
  [/^\(\?~/, 'an absence operator'],
];

const CLASS_ESCAPES: Readonly<Record<string, string>> = { h: '0-9a-fA-F' };
/** What stays with its backslash outside of a class, and inside. */
const KEPT = /^[dDwWsSbBAztnrfvaxpPu.+*?()|[\]{}^$\\]$/;
const KEPT_IN_CLASS = /^[dDwWsSnrtfvaxpPu\\\]^[&~-]$/;

export function translateRegexp(text: string): RegexpTranslation {
  const { body, flags } = splitRegexp(text);
  const translator = new RegexpTranslator(body);
  const problem = translator.run();
  if (problem) return { problem };
  const rustFlags = [
    translator.hasLineAnchors ? 'm' : '',
    flags.includes('i') ? 'i' : '',
    flags.includes('m') ? 's' : '',
    flags.includes('x') ? 'x' : '',
  ].join('');
  const source = `${rustFlags === '' ? '' : `(?${rustFlags})`}${translator.parts.join('')}`;
  return { source, names: translator.names };
}

class RegexpTranslator {
  readonly parts: string[] = [];
  readonly names: string[] = [];
  /** In Ruby `^` and `$` are the ends of each line. */
  hasLineAnchors = false;
  #at = 0;
  #classDepth = 0;
  readonly #body: string;

  constructor(body: string) {
    this.#body = body;
  }

  /** Returns what has no counterpart. */
  run(): string | null {
    while (this.#at < this.#body.length) {
      const char = this.#body[this.#at] ?? '';
      const problem =
        char === '\\' ? this.#escape() : this.#classDepth > 0 ? this.#inClass(char) : this.#plain(char);
      if (problem) return problem;
    }
    return this.#classDepth > 0 ? 'a class that does not end' : null;
  }

  #push(text: string, length = text.length): null {
    this.parts.push(text);
    this.#at += length;
    return null;
  }

  #escape(): string | null {
    const char = this.#body[this.#at + 1] ?? '';
    const isInClass = this.#classDepth > 0;
    if (/^[1-9]$/.test(char)) return `a backreference (\\${char})`;
    if (/^[kgKGRXZ]$/.test(char)) {
      if (char !== 'Z') return `\\${char}`;
      return this.#push('\\n?\\z', 2);
    }
    if (char === 'h') return this.#push(isInClass ? (CLASS_ESCAPES.h ?? '') : '[0-9a-fA-F]', 2);
    if (char === 'H') return isInClass ? '\\H in a class' : this.#push('[^0-9a-fA-F]', 2);
    if (char === 'e') return this.#push('\\x1b', 2);
    if (char === '0') return this.#push('\\x00', 2);
    if ((isInClass ? KEPT_IN_CLASS : KEPT).test(char)) return this.#push(`\\${char}`, 2);
    if (/^[A-Za-z0-9]$/.test(char)) return `\\${char}`;
    // Other escapes stand for the character itself. Rust reads \< and \> otherwise.
    if (char === '#' || char === ' ') return this.#push(`\\x${char === '#' ? '23' : '20'}`, 2);
    return this.#push(char, 2);
  }

  #inClass(char: string): string | null {
    if (char === ']') this.#classDepth -= 1;
    else if (char === '[') {
      const posix = /^\[:\^?[a-z]+:\]/.exec(this.#body.slice(this.#at, this.#at + 16));
      if (posix) return this.#push(posix[0]);
      this.#classDepth += 1;
    }
    return this.#push(char);
  }

  #plain(char: string): string | null {
    const rest = this.#body.slice(this.#at, this.#at + 128);
    if (char === '[') {
      this.#classDepth += 1;
      // A bracket at the beginning of a class stands for itself.
      const first = /^\[\^?\]/.exec(rest);
      if (first) return this.#push(first[0].replace(']', '\\]'), first[0].length);
      return this.#push(char);
    }
    if (char === '(') return this.#group(rest);
    if (char === '^' || char === '$') this.hasLineAnchors = true;
    if (char === '{' && !/^\{(?:\d+(?:,\d*)?|,\d+)\}/.test(rest)) return this.#push('\\{', 1);
    const upTo = /^\{,(\d+)\}/.exec(rest);
    if (upTo) return this.#push(`{0,${upTo[1]}}`, upTo[0].length);
    if (/^[*+?]\+/.test(rest)) return 'a possessive quantifier';
    return this.#push(char);
  }

  #group(rest: string): string | null {
    for (const [pattern, problem] of PROBLEMS) if (pattern.test(rest)) return problem;
    const named = /^\(\?(?:<|')([A-Za-z_][A-Za-z0-9_.-]*)(?:>|')/.exec(rest);
    if (named) {
      const name = named[1] ?? '';
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `the group name ${name}`;
      if (this.names.includes(name)) return `the group ${name} twice`;
      this.names.push(name);
      return this.#push(`(?P<${name}>`, named[0].length);
    }
    const comment = /^\(\?#[^)]*\)/.exec(rest);
    if (comment) return this.#push('', comment[0].length);
    const flags = /^\(\?([mix]*)(-[mix]+)?([:)])/.exec(rest);
    if (flags) {
      const on = (flags[1] ?? '').replace('m', 's');
      const off = (flags[2] ?? '').replace('m', 's');
      return this.#push(`(?${on}${off}${flags[3]}`, flags[0].length);
    }
    return this.#push('(');
  }
}
