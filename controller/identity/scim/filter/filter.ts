/**
 * Filters and paths of SCIM (RFC 7644, 3.4.2.2 and 3.5.2): comparisons, `pr`, `and`, `or`, `not`, parentheses, and values
 * that a filter of their own chooses, `emails[type eq "work"].value`.
 *
 * Read by hand in one pass, so that no text takes long, and with bounds on length, comparisons and depth. What is not
 * understood is refused: a filter that was left out would mean everybody.
 */
import { SCIM_LIMITS, SCIM_URNS } from '../../../../schemas/scim/common.ts';
import { refused, type ScimType } from '../refusals.ts';

export type Compared = string | boolean | number | null;
export const COMPARE_OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type CompareOperator = (typeof COMPARE_OPERATORS)[number];

/** Names are in lower case, without the URN of the core schema. */
export type Filter =
  | { op: 'and' | 'or'; of: Filter[] }
  | { op: 'not'; of: Filter }
  | { op: 'present'; attribute: string; sub: string | null }
  /** One of the values fulfils `where`, in which attributes are parts of the value. */
  | { op: 'some'; attribute: string; where: Filter }
  | { op: CompareOperator; attribute: string; sub: string | null; value: Compared };

export interface Path {
  /** In lower case; null for an attribute of an extension. */
  attribute: string | null;
  /** Which of its values. Null where nothing is said. */
  where: Filter | null;
  /** As `where` was written. */
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
type Wrong = (message: string) => Error;

const WORD = /[\w.:$-]/;
const SIGNS: readonly string[] = ['[', ']', '(', ')'];

function tokens(text: string, limit: number, wrong: Wrong): Token[] {
  if (text.length > limit) throw wrong(`is longer than ${limit} characters`);
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
      found.push({ kind: 'text', text: unquoted(text.slice(from, at), wrong), from, to: at });
    } else if (WORD.test(char)) {
      while (at < text.length && WORD.test(text.charAt(at))) at += 1;
      found.push({ kind: 'word', text: text.slice(from, at), from, to: at });
    } else {
      throw wrong(`is not understood at character ${from + 1}`);
    }
  }
  return found;
}

/** A string as JSON writes it: RFC 7644, 3.4.2.2. */
function unquoted(text: string, wrong: Wrong): string {
  let value: string;
  try {
    value = JSON.parse(text) as string;
  } catch {
    throw wrong('has a text that does not end, or with an unknown escape; write it as in JSON');
  }
  if (value.includes('\0')) throw wrong('has a text with the character NUL, which nothing here has');
  return value;
}

class Reader {
  readonly #text: string;
  readonly #tokens: Token[];
  readonly #wrong: Wrong;
  #at = 0;
  #comparisons = 0;
  #depth = 0;

  constructor(text: string, limit: number, wrong: Wrong) {
    this.#text = text;
    this.#wrong = wrong;
    this.#tokens = tokens(text, limit, wrong);
  }

  /** What must stand at the end of all. */
  end(): void {
    const token = this.#tokens[this.#at];
    if (token)
      throw this.#wrong(`goes on after its end with "${shown(token.text)}" at character ${token.from + 1}`);
  }

  /** `inside` of brackets, attributes are parts. Of the lowest precedence is `or`. */
  filter(inside: boolean): Filter {
    this.#depth += 1;
    if (this.#depth > SCIM_LIMITS.filterDepth)
      throw this.#wrong(`is nested deeper than ${SCIM_LIMITS.filterDepth} levels`);
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
      throw this.#wrong(`has more than ${SCIM_LIMITS.filterTerms} comparisons`);
    const { attribute, where, sub } = this.path(inside);
    if (attribute === null) throw this.#wrong('asks for an attribute of an extension, and none is kept');
    if (inside && sub !== null) throw this.#wrong('compares parts of parts');
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
      throw this.#wrong(
        `has "${shown(word)}" where one of ${COMPARE_OPERATORS.join(', ')} and pr is understood`,
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
      // Told below.
    }
    throw this.#wrong(`has the value ${shown(word)}; write texts in quotation marks`);
  }

  path(inside: boolean): Path {
    const { attribute, sub } = this.#name(this.#take('word', 'an attribute'));
    if (!this.#is('[')) return { attribute, where: null, whereText: null, sub };
    if (sub !== null) throw this.#wrong('chooses among values of a part');
    if (inside) throw this.#wrong('has brackets in brackets');
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
    if (!NAME.test(part)) throw this.#wrong(`has the part "${shown(next)}"`);
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
      throw this.#wrong(
        `wants ${what} ${token ? `before "${shown(token.text)}" at character ${token.from + 1}` : 'at its end'}`,
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
      throw this.#wrong(`has the attribute "${shown(text)}", which there is not`);
    return { attribute, sub };
  }
}

/** `$ref` is one. */
const NAME = /^[a-z$][\w$-]*$/;
const shown = (text: string): string => text.slice(0, 60).toWellFormed();

const CORE = [SCIM_URNS.user, SCIM_URNS.group].map((urn) => `${urn.toLowerCase()}:`);

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:user:';
/** It is asked about, though not kept, with and without the name of its schema. */
const MANAGER = `${ENTERPRISE}manager`;

/** The names of the core schemas may stand before their attributes: RFC 7644, 3.10. */
export function withoutCoreUrn(name: string): string {
  const lower = name.toLowerCase();
  const urn = CORE.find((one) => lower.startsWith(one));
  return urn === undefined ? name : name.slice(urn.length);
}

const refusing =
  (scimType: ScimType, what: string): Wrong =>
  (message) =>
    refused(scimType, `The ${what} ${message}`);

/** @throws BAD_REQUEST (invalidFilter) for all that is not understood. */
export function parseFilter(text: string): Filter {
  const reader = new Reader(text, SCIM_LIMITS.filterLength, refusing('invalidFilter', 'filter'));
  const filter = reader.filter(false);
  reader.end();
  return filter;
}

/** @throws BAD_REQUEST (invalidPath) for all that is not understood. */
export function parsePath(text: string): Path {
  const reader = new Reader(text, SCIM_LIMITS.pathLength, refusing('invalidPath', 'path'));
  const path = reader.path(false);
  reader.end();
  return path;
}

/** What stands in the brackets of a path. @throws BAD_REQUEST (invalidPath) */
export function parseWhere(text: string): Filter {
  const reader = new Reader(text, SCIM_LIMITS.pathLength, refusing('invalidPath', 'path'));
  const where = reader.filter(true);
  reader.end();
  return where;
}
