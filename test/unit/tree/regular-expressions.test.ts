/**
 * No regular expression of the product may be kept busy by a text: each is tried on long texts of few kinds of characters
 * that fit it almost, which is what makes backtracking grow (OWASP ASVS 5.0, 1.3.12). V8 is interrupted after a deadline.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createContext, Script } from 'node:vm';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '../../..');
const FOLDERS = ['agent', 'api', 'controller', 'reconcilers', 'schemas'];
/** Backtracking that is exponential shows with a few dozen characters, and what is cubic with these. */
const LENGTH = 2_000;
const DEADLINE_MS = 1_500;
/** What exceeds the deadline is tried once more with this one, since the machine may be busy with something else. */
const PATIENT_MS = 15_000;

/** After what a `/` begins an expression and no division. */
const LITERAL =
  /(?<=[=(,:?!&|;{}[]\s*|return\s+|=>\s*)\/((?![*/ ])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+)\/([dgimsuvy]*)(?=[\s.,;)\]}:]|$)/gm;

interface Found {
  where: string;
  source: string;
  flags: string;
}

function expressions(): Found[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => {
        const text = readFileSync(join(ROOT, folder, path), 'utf8');
        const literals = [...text.matchAll(LITERAL)].map(([, source = '', flags = '']) => ({
          source,
          flags,
        }));
        const patterns = [...text.matchAll(/(?:pattern: |worded\(\s*)'((?:[^'\\\n]|\\.)+)'/g)].map(
          ([, written = '']) => ({
            source: written.replaceAll('\\\\', '\\'),
            flags: 'u',
          }),
        );
        return [...literals, ...patterns].map((found) => ({ where: `${folder}/${path}`, ...found }));
      }),
  );
}

const KINDS = [
  'a',
  'A',
  '0',
  '-',
  '_',
  '.',
  '/',
  ' ',
  '\t',
  '\\',
  '"',
  "'",
  ':',
  '=',
  ',',
  '@',
  '%',
  '$',
  '#',
  '*',
];
const BRACKETS = ['{', '}', '[', ']', '(', ')', '<', '\n', '\r\n', 'é'];

/** Parts of an expression that match one character, and the edges of words, which see whether one is of a word. */
const ATOM = /\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u\{?[\da-fA-F]+\}?|\\x[\da-fA-F]{2}|\\.|[^\\[\]]/gsu;
/** What a group has matched is matched again, so every two characters are different to it. */
const BACK_REFERENCE = /\\(?:[1-9]|k<)/;

/**
 * One of each kind of characters that the expression tells apart: what all of its parts match alike, it runs over alike, and
 * trying each with each of these would take many times as long.
 */
function kindsOf({ source, flags }: Found): string[] {
  const kinds = [...KINDS, ...BRACKETS];
  if (BACK_REFERENCE.test(source) || flags.includes('v')) return kinds;
  const atoms = [...new Set(source.match(ATOM))].flatMap((atom) => atomOf(atom, flags.replace(/[gy]/g, '')));
  const matched = (character: string) => atoms.map((atom) => Number(atom.test(character))).join('');
  const bySignature = new Map(kinds.toReversed().map((kind) => [[...kind].map(matched).join(), kind]));
  return [...bySignature.values()];
}

/** Nothing for what is no expression of its own, such as a bracket or a quantifier. */
function atomOf(atom: string, flags: string): RegExp[] {
  try {
    return [new RegExp(/^\\[bB]$/.test(atom) ? '\\w' : atom, flags)];
  } catch {
    return [];
  }
}

/** Texts of one kind of character, and of two, with an end that spoils what fitted so far. */
function textsOf(kinds: readonly string[]): string[] {
  const ones = kinds.map((kind) => kind.repeat(LENGTH / kind.length));
  const twos = kinds.flatMap((one) => kinds.map((other) => (one + other).repeat(LENGTH / 2 / other.length)));
  return [...ones, ...twos].flatMap((text) => [`${text}\u0001`, `/${text}!`]);
}

/** What an expression wants to see first: the characters that it begins with as they are. */
const beginning = (source: string): string => /^\^?([\w:/. -]*)/.exec(source.replaceAll('\\', ''))?.[1] ?? '';

const context = createContext({});
const run = new Script('for (const text of texts) { expression.lastIndex = 0; expression.exec(text); }');

function keptBusy(found: Found, deadlines = [DEADLINE_MS, PATIENT_MS]): boolean {
  const first = beginning(found.source);
  const texts = textsOf(kindsOf(found));
  if (first !== '') texts.push(...texts.map((text) => first + text));
  return deadlines.every((deadline) => exceeds(found, texts, deadline));
}

function exceeds({ source, flags }: Found, texts: readonly string[], timeout: number): boolean {
  Object.assign(context, { texts, expression: new RegExp(source, flags) });
  try {
    run.runInContext(context, { timeout });
    return false;
  } catch {
    return true;
  }
}

describe('the regular expressions of the product', function () {
  this.timeout(300_000);

  it('are found', () => {
    expect(expressions().length).to.be.greaterThan(300);
  });

  it('are kept busy by no text', () => {
    const seen = new Set<string>();
    const slow: string[] = [];
    for (const found of expressions()) {
      const key = `/${found.source}/${found.flags}`;
      if (seen.has(key)) continue;
      seen.add(key);
      try {
        new RegExp(found.source, found.flags);
      } catch {
        continue;
      }
      if (keptBusy(found)) slow.push(`${found.where}: ${key}`);
    }
    expect(slow).to.deep.equal([]);
  });

  it('would be told: one that is exponential is', () => {
    // It would run for years: no deadline is too short for it.
    const busy = (source: string, deadlines?: number[]) =>
      keptBusy({ where: '', source, flags: '' }, deadlines);
    expect(busy('^(a+)+$', [100])).to.equal(true);
    expect(busy('[/]([A-Za-z\\s\\d~$._-]+\\.\\w+){1,}$', [100])).to.equal(true);
    expect(busy('^[a-z]+$')).to.equal(false);
  });

  it('tell apart the characters that they are tried with', () => {
    const kinds = (source: string, flags = '') => kindsOf({ where: '', source, flags });
    expect(kinds('^[a-z]+$')).to.have.members(['a', 'A', '\r\n']);
    expect(kinds('^[a-z]+$', 'i')).to.have.members(['a', '0', '\r\n']);
    expect(kinds('\\ba|\\s')).to.include.members(['a', 'A', '-', ' ']);
    expect(kinds('(.)\\1')).to.have.members([...KINDS, ...BRACKETS]);
  });
});
