/**
 * Translates Ruby expressions to VRL: those that people write into `${…}`. What is not known for certain is not translated.
 * A translated expression never fails to compile; where it fails on an event, Ruby would have raised an exception as well.
 */
import { TAG_TEXT, TIME_VALUE } from '../../event-form.ts';
import { callMethod } from './methods.ts';
import { type RubyToken, rubyTokens } from './tokens.ts';
import {
  asString,
  combine,
  isText,
  joinTexts,
  mixed,
  number,
  RubyProblem,
  regexp,
  text,
  truth,
  type VrlExpression,
} from './values.ts';

const MAX_DEPTH = 24;

/** Null if the expression is not known. */
export function translateRuby(text: string): VrlExpression | null {
  const tokens = rubyTokens(text);
  if (!tokens || tokens.length === 0) return null;
  try {
    return new RubyParser(tokens).whole();
  } catch (error) {
    if (error instanceof RubyProblem) return null;
    throw error;
  }
}

const PRECEDENCE: readonly (readonly string[])[] = [
  ['||', 'or'],
  ['&&', 'and'],
  ['==', '!=', '=~', '!~'],
  ['<', '>', '<=', '>='],
  ['+', '-'],
  ['*', '/', '%'],
];

export class RubyParser {
  readonly #tokens: readonly RubyToken[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly RubyToken[]) {
    this.#tokens = tokens;
  }

  whole(): VrlExpression {
    const value = this.expression();
    if (this.#at < this.#tokens.length) throw new RubyProblem();
    return value;
  }

  expression(): VrlExpression {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new RubyProblem();
    const condition = this.#binary(0);
    let value = condition;
    if (this.#operator('?')) {
      const yes = this.expression();
      if (!this.#operator(':')) throw new RubyProblem();
      const no = this.expression();
      value = {
        code: `{ if ${truth(condition)} { ${yes.code} } else { ${no.code} } }`,
        type: yes.type === no.type ? yes.type : isText(yes) && isText(no) ? 'part' : mixed(yes, no),
        readsRecord: [condition, yes, no].some(({ readsRecord }) => readsRecord),
      };
    }
    this.#depth -= 1;
    return value;
  }

  #binary(level: number): VrlExpression {
    const operators = PRECEDENCE[level];
    if (!operators) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const operator = operators.find((candidate) =>
        /^[a-z]/.test(candidate) ? this.#word(candidate) : this.#operator(candidate),
      );
      if (operator === undefined) return left;
      left = combine(operator, left, this.#binary(level + 1));
    }
  }

  #unary(): VrlExpression {
    if (this.#operator('!') || this.#word('not')) {
      const value = this.#unary();
      return { ...value, code: `!(${truth(value)})`, type: 'boolean' };
    }
    if (this.#operator('-')) {
      const token = this.#take();
      if (token?.type !== 'number') throw new RubyProblem();
      return number(`-${token.text}`);
    }
    return this.#postfix(this.#primary());
  }

  #postfix(start: VrlExpression): VrlExpression {
    let value = start;
    for (;;) {
      if (this.#operator('[')) {
        value = this.#element(value);
      } else if (this.#operator('.') || this.#operator('&.')) {
        const token = this.#take();
        if (token?.type !== 'name') throw new RubyProblem();
        value = callMethod(value, token.text, this.#arguments());
      } else return value;
    }
  }

  /** `a[b]`, and the beginning of a text as `a[0..9]`, `a[0...10]` or `a[0, 10]`. */
  #element(value: VrlExpression): VrlExpression {
    const index = this.expression();
    const range = ['...', '..', ','].find((operator) => this.#operator(operator));
    if (range === undefined) {
      if (!this.#operator(']')) throw new RubyProblem();
      return callMethod(value, '[]', [index]);
    }
    const token = this.#take();
    const isBeginning = index.code === '0' && token?.type === 'number' && value.type !== 'array';
    if (!isBeginning || !this.#operator(']')) throw new RubyProblem();
    const length = Number(token.text) + (range === '..' ? 1 : 0);
    return {
      code: `truncate(${asString(value)}, ${length})`,
      type: 'string',
      readsRecord: value.readsRecord,
    };
  }

  #arguments(): VrlExpression[] {
    if (!this.#operator('(')) return [];
    const values: VrlExpression[] = [];
    while (!this.#operator(')')) {
      values.push(this.#argument());
      if (!this.#operator(',') && !this.#peek(')')) throw new RubyProblem();
    }
    return values;
  }

  #argument(): VrlExpression {
    const token = this.#tokens[this.#at];
    if (token?.type !== 'regexp') return this.expression();
    this.#at += 1;
    return regexp(token.text);
  }

  #primary(): VrlExpression {
    const token = this.#take();
    if (!token) throw new RubyProblem();
    switch (token.type) {
      case 'string':
        return this.#string(token.parts);
      case 'number':
        return number(token.text);
      case 'regexp':
        return regexp(token.text);
      case 'constant':
        return this.#constant(token.text);
      case 'name':
        return this.#name(token.text);
      case 'operator':
        return this.#bracket(token.text);
      default:
        throw new RubyProblem();
    }
  }

  #bracket(opening: string): VrlExpression {
    if (opening === '(') {
      const value = this.expression();
      if (!this.#operator(')')) throw new RubyProblem();
      return { ...value, code: `(${value.code})` };
    }
    if (opening !== '[') throw new RubyProblem();
    const items: VrlExpression[] = [];
    while (!this.#operator(']')) {
      items.push(this.expression());
      if (!this.#operator(',') && !this.#peek(']')) throw new RubyProblem();
    }
    return {
      code: `[${items.map(({ code }) => code).join(', ')}]`,
      type: 'array',
      readsRecord: items.some(({ readsRecord }) => readsRecord),
    };
  }

  #string(parts: readonly (string | { code: string })[]): VrlExpression {
    const values = parts.flatMap((part): VrlExpression[] => {
      if (typeof part === 'string') return part === '' && parts.length > 1 ? [] : [text(part)];
      const inner = translateRuby(part.code);
      if (!inner) throw new RubyProblem();
      return [inner];
    });
    return joinTexts(values);
  }

  #name(name: string): VrlExpression {
    switch (name) {
      case 'record':
        return { code: '.', type: 'any', readsRecord: true };
      case 'tag':
        return { code: TAG_TEXT, type: 'string', readsRecord: false };
      case 'tag_parts':
        return { code: `split(${TAG_TEXT}, ".")`, type: 'array', readsRecord: false };
      case 'tag_prefix':
      case 'tag_suffix':
        return this.#tagSlice(name);
      case 'hostname':
        return { code: 'get_hostname!()', type: 'string', readsRecord: false };
      case 'time':
        return { code: TIME_VALUE, type: 'time', readsRecord: false };
      case 'nil':
        return { code: 'null', type: 'null', readsRecord: false };
      case 'true':
      case 'false':
        return { code: name, type: 'boolean', readsRecord: false };
      default:
        throw new RubyProblem();
    }
  }

  /** `tag_prefix[n]` are the parts up to the n-th, `tag_suffix[n]` those from it. */
  #tagSlice(name: string): VrlExpression {
    if (!this.#operator('[')) throw new RubyProblem();
    const minus = this.#operator('-');
    const token = this.#take();
    if (token?.type !== 'number' || !this.#operator(']')) throw new RubyProblem();
    const at = Number(token.text) * (minus ? -1 : 1);
    const end = at === -1 ? '' : `, end: ${at + 1}`;
    const range = name === 'tag_prefix' ? `start: 0${end}` : `start: ${at}`;
    const code = `join!(slice!(split(${TAG_TEXT}, "."), ${range}), ".")`;
    return { code, type: 'string', readsRecord: false };
  }

  #constant(name: string): VrlExpression {
    const path = [name];
    while (this.#operator('::')) {
      const token = this.#take();
      if (token?.type !== 'constant') throw new RubyProblem();
      path.push(token.text);
    }
    const constant = path.join('::');
    if (constant === 'ENV') throw new RubyProblem();
    if (!this.#operator('.')) throw new RubyProblem();
    const token = this.#take();
    if (token?.type !== 'name') throw new RubyProblem();
    const values = this.#arguments();
    const [first] = values;
    const readsRecord = values.some((value) => value.readsRecord);
    const call = `${constant}.${token.text}`;
    if (call === 'Time.now' && !first) return { code: 'now()', type: 'time', readsRecord };
    if (call === 'Socket.gethostname' && !first)
      return { code: 'get_hostname!()', type: 'string', readsRecord };
    if (call === 'SecureRandom.uuid' && !first) return { code: 'uuid_v4()', type: 'string', readsRecord };
    if (call === 'Time.at' && first?.type === 'time') return first;
    if (call === 'Time.at' && first)
      return { code: `from_unix_timestamp!(to_int!(${first.code}))`, type: 'time', readsRecord };
    if (call === 'Digest::MD5.hexdigest' && first)
      return { code: `md5(${asString(first)})`, type: 'string', readsRecord };
    if (call === 'Digest::SHA256.hexdigest' && first) {
      return { code: `sha2(${asString(first)}, variant: "SHA-256")`, type: 'string', readsRecord };
    }
    throw new RubyProblem();
  }

  #take(): RubyToken | undefined {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    return token;
  }

  #peek(operator: string): boolean {
    const token = this.#tokens[this.#at];
    return token?.type === 'operator' && token.text === operator;
  }

  #operator(operator: string): boolean {
    if (!this.#peek(operator)) return false;
    this.#at += 1;
    return true;
  }

  #word(word: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.type !== 'name' || token.text !== word) return false;
    this.#at += 1;
    return true;
  }
}
