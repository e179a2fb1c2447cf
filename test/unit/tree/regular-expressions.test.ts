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

/** Texts of one kind of character, and of two, with an end that spoils what fitted so far. */
function texts(): string[] {
  const kinds = [...KINDS, ...BRACKETS];
  const ones = kinds.map((kind) => kind.repeat(LENGTH / kind.length));
  const twos = kinds.flatMap((one) => kinds.map((other) => (one + other).repeat(LENGTH / 2 / other.length)));
  return [...ones, ...twos].flatMap((text) => [`${text}\u0001`, `/${text}!`]);
}

/** What an expression wants to see first: the characters that it begins with as they are. */
const beginning = (source: string): string => /^\^?([\w:/. -]*)/.exec(source.replaceAll('\\', ''))?.[1] ?? '';

const run = new Script('for (const text of texts) { expression.lastIndex = 0; expression.exec(text); }');

function keptBusy(found: Found, all: readonly string[]): boolean {
  return exceeds(found, all, DEADLINE_MS) && exceeds(found, all, PATIENT_MS);
}

function exceeds({ source, flags }: Found, all: readonly string[], timeout: number): boolean {
  const expression = new RegExp(source, flags);
  const first = beginning(source);
  const context = createContext({
    expression,
    texts: first === '' ? all : [...all, ...all.map((text) => first + text)],
  });
  try {
    run.runInContext(context, { timeout });
    return false;
  } catch {
    return true;
  }
}

describe('the regular expressions of the product', function () {
  this.timeout(300_000);
  const all = texts();

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
      if (keptBusy(found, all)) slow.push(`${found.where}: ${key}`);
    }
    expect(slow).to.deep.equal([]);
  });

  it('would be told: one that is exponential is', () => {
    expect(keptBusy({ where: '', source: '^(a+)+$', flags: '' }, all)).to.equal(true);
    expect(keptBusy({ where: '', source: '[/]([A-Za-z\\s\\d~$._-]+\\.\\w+){1,}$', flags: '' }, all)).to.equal(
      true,
    );
    expect(keptBusy({ where: '', source: '^[a-z]+$', flags: '' }, all)).to.equal(false);
  });
});
