/**
 * Parses filters and paths of SCIM (RFC 7644, 3.4.2.2 and 3.5.2): comparisons, `pr`, `and`, `or`, `not`, parentheses, and value
 * filters such as `emails[type eq "work"].value`.
 *
 * A hand-written parser with one pass, so that no input is slow, and with limits on length, comparisons and depth. Anything
 * that it does not understand is an error: an ignored filter would match everybody.
 */
import { SCIM_LIMITS, SCIM_URNS } from '../../../../schemas/scim/common.ts';
import { type ScimType, scimError } from '../scim-errors.ts';

export type Compared = string | boolean | number | null;
export const COMPARE_OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type CompareOperator = (typeof COMPARE_OPERATORS)[number];

/** Names are in lower case, without the URN of the core schema. */
export type Filter =
  | { op: 'and' | 'or'; of: Filter[] }
  | { op: 'not'; of: Filter }
  | { op: 'present'; attribute: string; sub: string | null }
  /** One of the values matches `where`, whose attributes are sub-attributes of the value. */
  | { op: 'some'; attribute: string; where: Filter }
  | { op: CompareOperator; attribute: string; sub: string | null; value: Compared };

export interface Path {
  /** In lower case; null for an attribute of an extension. */
  attribute: string | null;
  /** Selects values of the attribute; null without a filter. */
  where: Filter | null;
  /** The source text of `where`. */
  whereText: string | null;
  /** In lower case. */
  sub: string | null;
}

type Kind = 'word' | 'text' | '[' | ']' | '(' | ')';
interface Token {
  kind: Kind;
  text: string;
  from: number;
  to: number;
}
type MakeError = (message: string) => Error;

const WORD = /[\w.:$-]/;
const SIGNS: readonly string[] = ['[', ']', '(', ')'];

function tokens(text: string, limit: number, makeError: MakeError): Token[] {
  if (text.length > limit) throw makeError(`is longer than ${limit} characters`);
  const found: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    const from = at;
    at += 1;
    if (char === ' ' || char === '\t') continue;
    if (SIGNS.includes(char)) {
      found.push({ kind: char as Kind, text: char, from, to: at });
    } else if (char === '"') {
      while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
      at += 1;
      found.push({ kind: 'text', text: unquote(text.slice(from, at), makeError), from, to: at });
    } else if (WORD.test(char)) {
      while (at < text.length && WORD.test(text.charAt(at))) at += 1;
      found.push({ kind: 'word', text: text.slice(from, at), from, to: at });
    } else {
      throw makeError(`is not understood at character ${from + 1}`);
    }
  }
  return found;
}

/** Parses a JSON string: RFC 7644, 3.4.2.2. */
function unquote(text: string, makeError: MakeError): string {
  let value: string;
  try {
    value = JSON.parse(text) as string;
  } catch {
    throw makeError('has a text without an end or with an unknown escape; write it as in JSON');
  }
  if (value.includes('\0')) throw makeError('has a text with the character NUL, which no value contains');
  return value;
}

class Reader {
  readonly #text: string;
  readonly #tokens: Token[];
  readonly #makeError: MakeError;
  #at = 0;
  #comparisons = 0;
  #depth = 0;

  constructor(text: string, limit: number, makeError: MakeError) {
    this.#text = text;
    this.#makeError = makeError;
    this.#tokens = tokens(text, limit, makeError);
  }

  /** Asserts that all tokens are read. */
  end(): void {
    const token = this.#tokens[this.#at];
    if (token)
      throw this.#makeError(`has "${excerpt(token.text)}" after its end at character ${token.from + 1}`);
  }

  /** `inside` brackets, attributes are sub-attributes. `or` has the lowest precedence. */
  filter(inside: boolean): Filter {
    this.#depth += 1;
    if (this.#depth > SCIM_LIMITS.filterDepth)
      throw this.#makeError(`is nested deeper than ${SCIM_LIMITS.filterDepth} levels`);
    const read = this.#joined('or', () => this.#joined('and', () => this.#unit(inside)));
    this.#depth -= 1;
    return read;
  }

  #joined(op: 'and' | 'or', next: () => Filter): Filter {
    const of = [next()];
    while (this.#isWord(op)) {
      this.#at += 1;
      of.push(next());
    }
    const [only] = of;
    return of.length === 1 && only ? only : { op, of };
  }

  #unit(inside: boolean): Filter {
    if (this.#is('(')) return this.#group(inside);
    if (this.#isWord('not') && this.#tokens[this.#at + 1]?.kind === '(') {
      this.#at += 1;
      return { op: 'not', of: this.#group(inside) };
    }
    return this.#expression(inside);
  }

  #group(inside: boolean): Filter {
    this.#take('(', '"("');
    const read = this.filter(inside);
    this.#take(')', '")"');
    return read;
  }

  #expression(inside: boolean): Filter {
    this.#comparisons += 1;
    if (this.#comparisons > SCIM_LIMITS.filterTerms)
      throw this.#makeError(`has more than ${SCIM_LIMITS.filterTerms} comparisons`);
    const { attribute, where, sub } = this.path(inside);
    if (attribute === null) throw this.#makeError('has an attribute of an extension, which is not supported');
    if (inside && sub !== null) throw this.#makeError('compares sub-attributes of sub-attributes');
    if (where !== null && sub === null) return { op: 'some', attribute, where };
    const compared = this.#comparison(where === null ? attribute : (sub ?? ''), where === null ? sub : null);
    return where === null ? compared : { op: 'some', attribute, where: { op: 'and', of: [where, compared] } };
  }

  #comparison(attribute: string, sub: string | null): Filter {
    const word = this.#take('word', 'a comparison such as eq');
    const op = word.toLowerCase();
    if (op === 'pr') return { op: 'present', attribute, sub };
    const known = COMPARE_OPERATORS.find((one) => one === op);
    if (known === undefined)
      throw this.#makeError(
        `has "${excerpt(word)}" instead of one of ${COMPARE_OPERATORS.join(', ')} and pr`,
      );
    return { op: known, attribute, sub, value: this.#value() };
  }

  #value(): Compared {
    if (this.#is('text')) return this.#take('text', 'a text');
    const word = this.#take('word', 'a value');
    try {
      const value: unknown = JSON.parse(word.toLowerCase());
      if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
    } catch {
      // The error is thrown below.
    }
    throw this.#makeError(`has the value ${excerpt(word)}; write texts in quotation marks`);
  }

  path(inside: boolean): Path {
    const { attribute, sub } = this.#name(this.#take('word', 'an attribute'));
    if (!this.#is('[')) return { attribute, where: null, whereText: null, sub };
    if (sub !== null) throw this.#makeError('filters the values of a sub-attribute');
    if (inside) throw this.#makeError('has brackets inside brackets');
    const from = this.#tokens[this.#at]?.to ?? 0;
    this.#take('[', '"["');
    const where = this.filter(true);
    const to = this.#tokens[this.#at]?.from ?? from;
    this.#take(']', '"]"');
    const whereText = this.#text.slice(from, to);
    const next = this.#is('word') ? (this.#tokens[this.#at]?.text ?? '') : '';
    if (!next.startsWith('.')) return { attribute, where, whereText, sub: null };
    this.#at += 1;
    const part = next.slice(1).toLowerCase();
    if (!NAME.test(part)) throw this.#makeError(`has the invalid sub-attribute "${excerpt(next)}"`);
    return { attribute, where, whereText, sub: part };
  }

  #is(kind: Kind): boolean {
    return this.#tokens[this.#at]?.kind === kind;
  }

  #isWord(word: string): boolean {
    return this.#is('word') && this.#tokens[this.#at]?.text.toLowerCase() === word;
  }

  #take(kind: Kind, what: string): string {
    const token = this.#tokens[this.#at];
    if (token?.kind !== kind)
      throw this.#makeError(
        `needs ${what} ${token ? `before "${excerpt(token.text)}" at character ${token.from + 1}` : 'at its end'}`,
      );
    this.#at += 1;
    return token.text;
  }

  #name(text: string): { attribute: string | null; sub: string | null } {
    const lower = withoutCoreUrn(text).toLowerCase();
    const isManager = lower === MANAGER || lower.startsWith(`${MANAGER}.`);
    const plain = isManager ? lower.slice(ENTERPRISE.length) : lower;
    if (plain.startsWith('urn:')) return { attribute: null, sub: null };
    const parts = plain.split('.');
    const [attribute = '', sub = null] = parts;
    if (parts.length > 2 || !parts.every((part) => NAME.test(part)))
      throw this.#makeError(`has the attribute "${excerpt(text)}", which does not exist`);
    return { attribute, sub };
  }
}

/** Includes `$ref`. */
const NAME = /^[a-z$][\w$-]*$/;
const excerpt = (text: string): string => text.slice(0, 60).toWellFormed();

const CORE = [SCIM_URNS.user, SCIM_URNS.group].map((urn) => `${urn.toLowerCase()}:`);

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:user:';
/** Providers filter by it, with and without the name of its schema, although it is not stored. */
const MANAGER = `${ENTERPRISE}manager`;

/** Attributes may have the URN of a core schema as prefix: RFC 7644, 3.10. */
export function withoutCoreUrn(name: string): string {
  const lower = name.toLowerCase();
  const urn = CORE.find((one) => lower.startsWith(one));
  return urn === undefined ? name : name.slice(urn.length);
}

const errorFor =
  (scimType: ScimType, what: string): MakeError =>
  (message) =>
    scimError(scimType, `The ${what} ${message}`);

/** @throws BAD_REQUEST (invalidFilter) for a syntax error. */
export function parseFilter(text: string): Filter {
  const reader = new Reader(text, SCIM_LIMITS.filterLength, errorFor('invalidFilter', 'filter'));
  const filter = reader.filter(false);
  reader.end();
  return filter;
}

/** @throws BAD_REQUEST (invalidPath) for a syntax error. */
export function parsePath(text: string): Path {
  const reader = new Reader(text, SCIM_LIMITS.pathLength, errorFor('invalidPath', 'path'));
  const path = reader.path(false);
  reader.end();
  return path;
}

/** Parses the text between the brackets of a path. @throws BAD_REQUEST (invalidPath) */
export function parseWhere(text: string): Filter {
  const reader = new Reader(text, SCIM_LIMITS.pathLength, errorFor('invalidPath', 'path'));
  const where = reader.filter(true);
  reader.end();
  return where;
}
