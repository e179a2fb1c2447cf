/**
 * Filters and paths of SCIM (RFC 7644, 3.4.2.2 and 3.5.2), as far as they are used: `attribute eq "value"`, several of them
 * with `and`, and addresses or members that such comparisons choose, `emails[type eq "work"].value`.
 *
 * Read by hand in one pass, so that no text takes long, and with bounds. What is not understood is refused: a filter that
 * was left out would mean everybody.
 */
import { refused, type ScimType } from '../../controller/scim/index.ts';
import { SCIM_LIMITS, SCIM_URNS } from '../../schemas/scim/common.ts';

export type Compared = string | boolean | number | null;
/** In lower case, without the URN of the core schema. */
export interface Comparison {
  attribute: string;
  value: Compared;
}
export interface Path {
  /** In lower case; null for an attribute of an extension. */
  attribute: string | null;
  /** Which of its values: all of these hold. Null where nothing is said. */
  where: Comparison[] | null;
  /** In lower case. */
  sub: string | null;
}
export type Term = Path & { value: Compared };

type Token = { kind: 'word' | 'text' | '[' | ']'; text: string };

const WORD = /[\w.:$-]/;

function tokens(text: string, limit: number, wrong: (message: string) => Error): Token[] {
  if (text.length > limit) throw wrong(`is longer than ${limit} characters`);
  const found: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    const from = at;
    at += 1;
    if (char === ' ' || char === '\t') continue;
    if (char === '[' || char === ']') {
      found.push({ kind: char, text: char });
    } else if (char === '"') {
      while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
      at += 1;
      found.push({ kind: 'text', text: unquoted(text.slice(from, at), wrong) });
    } else if (WORD.test(char)) {
      while (at < text.length && WORD.test(text.charAt(at))) at += 1;
      found.push({ kind: 'word', text: text.slice(from, at) });
    } else {
      throw wrong(`is not understood at character ${from + 1}`);
    }
  }
  return found;
}

/** A string as JSON writes it: RFC 7644, 3.4.2.2. */
function unquoted(text: string, wrong: (message: string) => Error): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    throw wrong('has a text that does not end, or with an unknown escape; write it as in JSON');
  }
}

class Reader {
  readonly #tokens: Token[];
  readonly #wrong: (message: string) => Error;
  #at = 0;

  constructor(text: string, limit: number, wrong: (message: string) => Error) {
    this.#wrong = wrong;
    this.#tokens = tokens(text, limit, wrong);
  }

  get ended(): boolean {
    return this.#at >= this.#tokens.length;
  }
  is(kind: Token['kind']): boolean {
    return this.#tokens[this.#at]?.kind === kind;
  }
  take(kind: Token['kind'], what: string): string {
    const token = this.#tokens[this.#at];
    if (token?.kind !== kind)
      throw this.#wrong(`wants ${what} ${token ? `before "${shown(token.text)}"` : 'at its end'}`);
    this.#at += 1;
    return token.text;
  }
  /** In any case. */
  keyword(word: string): void {
    const text = this.take('word', `"${word}"`);
    if (text.toLowerCase() !== word)
      throw this.#wrong(`has "${shown(text)}" where only "${word}" is understood`);
  }
  value(): Compared {
    if (this.is('text')) return this.take('text', 'a text');
    const word = this.take('word', 'a value');
    try {
      const value: unknown = JSON.parse(word.toLowerCase());
      if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
    } catch {
      // Told below.
    }
    throw this.#wrong(`has the value ${shown(word)}; write texts in quotation marks`);
  }
  path(): Path {
    const { attribute, sub } = this.name(this.take('word', 'an attribute'));
    if (!this.is('[')) return { attribute, where: null, sub };
    if (sub !== null) throw this.#wrong('chooses among values of a part');
    this.take('[', '"["');
    const where: Comparison[] = [];
    do {
      if (where.length > 0) this.keyword('and');
      if (where.length === SCIM_LIMITS.filterTerms) throw this.tooMany();
      const inner = this.name(this.take('word', 'an attribute'));
      if (inner.attribute === null || inner.sub !== null) throw this.#wrong('compares parts of parts');
      this.keyword('eq');
      where.push({ attribute: inner.attribute, value: this.value() });
    } while (!this.is(']') && !this.ended);
    this.take(']', '"]"');
    const next = this.is('word') ? (this.#tokens[this.#at]?.text ?? '') : '';
    if (!next.startsWith('.')) return { attribute, where, sub: null };
    this.take('word', 'a part');
    const part = next.slice(1).toLowerCase();
    if (!NAME.test(part)) throw this.#wrong(`has the part "${shown(next)}"`);
    return { attribute, where, sub: part };
  }
  tooMany(): Error {
    return this.#wrong(`has more than ${SCIM_LIMITS.filterTerms} comparisons`);
  }
  name(text: string): { attribute: string | null; sub: string | null } {
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
  (scimType: ScimType, what: string) =>
  (message: string): Error =>
    refused(scimType, `The ${what} ${message}`);

/** @throws BAD_REQUEST (invalidFilter) for all that is not understood. Never empty. */
export function parseFilter(text: string): Term[] {
  const wrong = refusing('invalidFilter', 'filter');
  const reader = new Reader(text, SCIM_LIMITS.filterLength, wrong);
  const terms: Term[] = [];
  do {
    if (terms.length > 0) reader.keyword('and');
    if (terms.length === SCIM_LIMITS.filterTerms) throw reader.tooMany();
    const path = reader.path();
    // `emails[value eq "…"]` is a comparison of its own.
    if (path.where && path.sub === null) {
      terms.push({ ...path, value: null });
      continue;
    }
    reader.keyword('eq');
    terms.push({ ...path, value: reader.value() });
  } while (!reader.ended);
  return terms;
}

/** @throws BAD_REQUEST (invalidPath) for all that is not understood. */
export function parsePath(text: string): Path {
  const wrong = refusing('invalidPath', 'path');
  const reader = new Reader(text, SCIM_LIMITS.pathLength, wrong);
  const path = reader.path();
  if (!reader.ended) throw wrong('goes on after its end');
  return path;
}
