/**
 * Credentials that somebody typed into a VRL program and that no secret of the environment holds: texts in quotes under a name
 * that is one's, keys of ciphers, and texts of a form that only credentials have. They are masked for a model, and put back
 * where it gives the mask back under the same name. Pure; linear in the length of the text.
 */
import { isSensitive, MASK } from '../../index.ts';

/** A text in quotes: where its content is, and what it is about. */
interface Literal {
  from: number;
  to: number;
  /** The name before it: `token` of `.token = "x"`, `hmac` of a key of that function; empty where there is none. */
  name: string;
  /** Whether it stands where a key of a cipher does. */
  isKey: boolean;
}

/** `"…"` and `s'…'`, and `\"…\"` in a program that is quoted as a whole, as in a line of YAML. */
const OPENING = /\\?"|(?<!\w)s'/g;
/** How far a name may be before its text. */
const NAME_CHARS = 200;
const CALLS = /(?:\w+!?\(\s*)*$/;
/** An assignment, a comparison, a key of an object, an argument with a name. */
const NAMED = /([\w@-]+)(?:\\?["'\])]|\s)*(?:\|\||\?\?|[|+!=])?[=:]\s*$/;
/** What is added to an assigned text, or stands in its place where that is missing. */
const CONTINUED = /(?:\?\?|\|\||\+)\s*$/;
const ASSIGNED = /([\w@-]+)(?:\\?["'\])]|\s)*(?:,\s*\w+\s*)?(?:\|\||\?\?|[|+])?=(?![=])/;
const CIPHER = /\b(hmac|(?:en|de)crypt(?:_ip)?)!?\(([^()]*)$/;
const ALGORITHM = /^(?:SHA|AES|CHACHA|XCHACHA|XSALSA|CAMELLIA|aes|pfx)/i;

/** Forms that nothing but a credential has; the first group stays. */
const FORMS: readonly RegExp[] = [
  /()-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:[^-"']|-(?!----))*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?/g,
  /()\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /()\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|sk-|hgp_)[\w-]{20,255}/g,
  /()\bAIza[\w-]{35}/g,
  /()\beyJ[\w-]{8,4000}\.[\w-]{8,4000}\.[\w-]{8,4000}/g,
  /\b([a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"'$]{0,100}:)[^\s/:@"'$•]{1,300}(?=@)/gi,
  /\b((?:Bearer|Basic)\s{1,3})[\w.~+/-]{12,4000}=*/gi,
];

const maskForms = (text: string): string =>
  FORMS.reduce((rest, form) => rest.replaceAll(form, `$1${MASK}`), text);

/** With everything that looks like a typed credential masked; the rest stays as it is. */
export function maskTyped(text: string): string {
  let masked = '';
  let copied = 0;
  for (const literal of literalsIn(text)) {
    if (!isCredential(text, literal)) continue;
    masked += text.slice(copied, literal.from) + MASK;
    copied = literal.to;
  }
  return maskForms(masked + text.slice(copied));
}

/** The credentials that `maskTyped` masks. */
export function credentialsIn(text: string): string[] {
  const named = [...literalsIn(text)].filter((literal) => isCredential(text, literal));
  return [
    ...named.map(({ from, to }) => text.slice(from, to)),
    ...FORMS.flatMap((form) =>
      [...text.matchAll(form)].map(([all, before = '']) => all.slice(before.length)),
    ),
  ];
}

/** Puts back what `maskTyped` has masked in the program of before; what stands under another name stays masked. */
export function unmaskTyped(program: string, before: string): string {
  if (!program.includes(MASK)) return program;
  const known = byPlace(before, (text) => text !== MASK);
  const given = byPlace(program, (text) => text.includes(MASK));
  const used = new Map<string, number>();
  let restored = '';
  let copied = 0;
  for (const literal of literalsIn(program)) {
    const place = placeOf(program, literal);
    const values = known.get(place) ?? [];
    if (!program.slice(literal.from, literal.to).includes(MASK) || values.length === 0) continue;
    const index = used.get(place) ?? 0;
    used.set(place, index + 1);
    // Several under one name are taken in their order, where none was added or taken away.
    const isClear = new Set(values).size === 1 || values.length === given.get(place)?.length;
    const value = isClear ? values[Math.min(index, values.length - 1)] : undefined;
    if (value === undefined) continue;
    restored += program.slice(copied, literal.from) + value;
    copied = literal.to;
  }
  return restored + program.slice(copied);
}

/** A text as a model sees it, under its name. */
function placeOf(text: string, literal: Literal): string {
  const content = text.slice(literal.from, literal.to);
  return `${literal.name} ${isCredential(text, literal) ? MASK : maskForms(content)}`;
}

/** The contents of what is masked, by their places. */
function byPlace(text: string, isWanted: (content: string) => boolean): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const literal of literalsIn(text)) {
    const content = text.slice(literal.from, literal.to);
    const place = placeOf(text, literal);
    if (!place.includes(MASK) || !isWanted(content)) continue;
    found.set(place, [...(found.get(place) ?? []), content]);
  }
  return found;
}

/** Placeholders of secrets and schemes are none, nor is what somebody writes in the place of a credential. */
const NO_CREDENTIAL = /\$\{[\w.]+\}|\b(?:bearer|basic|digest|token)\b/gi;
const IN_ITS_PLACE = /^\p{L}*(?:redact|mask|hidden|remov|filter|scrub|unknown|missing)\p{L}*$/iu;
const SHORTEST = 4;

function isCredential(text: string, { from, to, name, isKey }: Literal): boolean {
  const content = text.slice(from, to);
  if (content === MASK) return true;
  const rest = content.replaceAll(NO_CREDENTIAL, '').replaceAll(/[^\p{L}\p{N}]/gu, '');
  if (rest.length < SHORTEST || IN_ITS_PLACE.test(rest)) return false;
  return isKey ? !ALGORITHM.test(content) : isSensitive(name, content) && name !== '';
}

function* literalsIn(text: string, end = text.length, start = 0, isQuoted = false): Generator<Literal> {
  for (let at = start; ; ) {
    OPENING.lastIndex = at;
    const found = OPENING.exec(text);
    if (!found || found.index >= end) return;
    const [opening] = found;
    const from = found.index + opening.length;
    at = from;
    // A text of YAML in quotes may go over lines.
    if (isQuoted && opening === '"') continue;
    const literal = describe(text, found.index, from);
    const isSecret = isSensitive(literal.name, 'text');
    // A credential ends where its quote does, or with its line. Of another, a quote without its end is no text.
    const closed = endOf(text, from, { opening, end, isMultiLine: isSecret });
    const to = closed < 0 && isSecret ? endOfLine(text, from, end) : closed;
    if (to < 0) continue;
    at = to + opening.length - (opening === "s'" ? 1 : 0);
    const isProgram = opening === '"' && /\\"|s'/.test(text.slice(from, to));
    if (isProgram && !isSecret) yield* literalsIn(text, to, from, true);
    else yield { ...literal, from, to };
  }
}

function describe(text: string, index: number, from: number): Omit<Literal, 'to'> {
  const before = text.slice(Math.max(0, index - NAME_CHARS), index);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const cipher = CIPHER.exec(line);
  if (cipher) return { from, name: cipher[1] ?? '', isKey: true };
  const plain = line.replace(CALLS, '');
  const name = NAMED.exec(plain)?.[1] ?? (CONTINUED.test(plain) ? ASSIGNED.exec(plain)?.[1] : undefined);
  return { from, name: name ?? '', isKey: false };
}

function endOfLine(text: string, from: number, end: number): number {
  const at = text.indexOf('\n', from);
  return at < 0 || at > end ? end : at;
}

/** Where its content ends; -1 where it does not. */
function endOf(
  text: string,
  from: number,
  { opening, end, isMultiLine }: { opening: string; end: number; isMultiLine: boolean },
): number {
  const closing = opening === "s'" ? "'" : '"';
  for (let at = from; at < end; at += 1) {
    const char = text[at];
    if (char === '\n' && !isMultiLine) return -1;
    if (opening === '\\"' && char === '\\') {
      if (text[at + 1] === '"') return at;
      // An escaped backslash escapes a quote of its own.
      if (text[at + 1] === '\\') at += text.startsWith('\\"', at + 2) ? 3 : 1;
    } else if (char === '\\') at += 1;
    else if (char === closing) return at;
  }
  return -1;
}
