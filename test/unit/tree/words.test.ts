/** Words that the glossary of CONTRIBUTING.md has replaced: in names of files, in identifiers, in comments and texts. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '../../..');
const FOLDERS = [
  'agent',
  'api',
  'controller',
  'examples',
  'reconcilers',
  'schemas',
  'web',
  'docs',
  'README.md',
  'ARCHITECTURE.md',
];
/** What has shipped is not rewritten. */
const FIXED = /^controller\/database\/migrations\/|\.gen\.ts$|package-lock\.json$/;

/** Whole words, in comments, texts and names alike. */
const PROSE =
  /\b(?:told(?! apart)|doors?|whom|whomever|whoever|anew|in vain|\w+s of theirs|comes to no end|nobody is told)\b/i;
/** Parts of identifiers in camel case, and whole ones that are declared. */
const NAMES = [
  'told',
  'said',
  'deeds',
  'departures',
  'standing',
  'judged',
  'owing',
  'owed',
  'strangers',
  'troubles',
  'door',
  'undone',
];
const FILE = new RegExp(
  `(?:^|-)(?:${[...NAMES, 'kept', 'judge', 'touched', 'room', 'again', 'from', 'before', 'bound', 'shown', 'news', 'talk', 'turns'].join('|')})(?:-|\\.)`,
);
const capital = (word: string) => word[0]?.toUpperCase() + word.slice(1);
const IDENTIFIER = new RegExp(
  `\\b(?:(?:const|let|function|class|interface|type)\\s+(?:${NAMES.flatMap((word) => [word, capital(word)]).join('|')})\\b|(?:${NAMES.join('|')})[A-Z]\\w*|[a-z]\\w*(?:${NAMES.map(capital).join('|')})(?![a-z])\\w*|\\w+InWords\\b|[A-Z]\\w*_WORDS\\b)`,
);

const files = execFileSync('git', ['ls-files', '--', ...FOLDERS], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(?:tsx?|md|css|ya?ml)$/.test(path) && !FIXED.test(path));

/** Spelled apart here, since the glossary itself names them. */
const linesWith = (pattern: RegExp, only = /./) =>
  files.flatMap((path) =>
    only.test(path)
      ? readFileSync(join(ROOT, path), 'utf8')
          .split('\n')
          .flatMap((line, at) =>
            pattern.test(line) ? [`${path}:${at + 1}: ${line.trim().slice(0, 140)}`] : [],
          )
      : [],
  );

describe('the words that were replaced', () => {
  it('are in no name of a file', () => {
    expect(files.filter((path) => FILE.test(basename(path)))).to.deep.equal([]);
  });
  it('are in no identifier', () => {
    expect(linesWith(IDENTIFIER, /\.tsx?$/).join('\n')).to.equal('');
  });
  it('are in no comment, text or document', () => {
    expect(linesWith(PROSE)).to.deep.equal([]);
  });
});
