import { expect } from 'chai';
import { readManifests } from '../../support/clients/read-manifests.ts';

const HEAD = 'apiVersion: headgate/v1\nkind: Pipeline\nmetadata: { name: one }\n';
const MIB = 1024 * 1024;

function aliasBomb(): string {
  const levels = [...'abcdefghij'];
  const lines = levels.map((name, index) => {
    const item = index === 0 ? 'x' : `*${levels[index - 1]}`;
    return `    ${name}: &${name} [${Array(9).fill(item).join(',')}]`;
  });
  return `${HEAD}spec:\n  global:\n${lines.join('\n')}\n`;
}

interface Trap {
  what: string;
  content: string | Uint8Array;
  /** Part of the message. */
  says: string;
  at: [line: number, column: number];
  reason: string;
}

const TRAPS: Trap[] = [
  {
    what: 'an alias bomb',
    content: aliasBomb(),
    says: 'once its aliases are expanded',
    at: [11, 12],
    reason: 'ten lines would become 3.5 billion values',
  },
  {
    what: 'lists nested 5,000 deep',
    content: '['.repeat(5000),
    says: 'nested more than 100 deep',
    at: [1, 101],
    reason: 'the composer recurses and would exhaust the stack',
  },
  {
    what: 'block sequences nested 5,000 deep on one line',
    content: `${'- '.repeat(5000)}x`,
    says: 'nested more than 100 deep',
    at: [1, 200],
    reason: 'depth without a single bracket',
  },
  {
    what: 'a duplicate key',
    content: `${HEAD}spec:\n  deployed: true\n  deployed: false\n`,
    says: 'the key deployed stands here twice',
    at: [6, 3],
    reason: 'which one counts would be chance',
  },
  {
    what: 'a duplicate key that is written in two ways',
    content: `${HEAD}spec: { "deployed": true, deployed: false }\n`,
    says: 'stands here twice',
    at: [4, 27],
    reason: 'quotes do not make another key',
  },
  {
    what: 'a tab as indentation',
    content: `${HEAD}spec:\n\tdeployed: true\n`,
    says: 'tabs are not allowed as indentation',
    at: [5, 1],
    reason: 'YAML forbids it, and editors hide it',
  },
  {
    what: 'a custom tag',
    content: `${HEAD}spec:\n  description: !env HOME\n`,
    says: 'the tag !env is not accepted',
    at: [5, 21],
    reason: 'tags make other programs run code',
  },
  {
    what: 'a binary tag',
    content: `${HEAD}spec:\n  description: !!binary aGVsbG8=\n`,
    says: 'is not accepted',
    at: [5, 25],
    reason: 'the value would be bytes, not text',
  },
  {
    what: 'a NUL byte',
    content: `${HEAD}spec: { description: "a\0b" }\n`,
    says: 'NUL byte',
    at: [4, 24],
    reason: 'Postgres refuses it in text',
  },
  {
    what: 'a NUL that an escape writes',
    content: `${HEAD}spec: { description: "a\\0b" }\n`,
    says: 'holds a NUL',
    at: [4, 22],
    reason: 'the pass over the whole environment would fail when it is stored',
  },
  {
    what: 'a key with half a surrogate pair',
    content: `${HEAD}spec: { global: { "k\\uD800": 1 } }\n`,
    says: 'half a surrogate pair',
    at: [4, 19],
    reason: 'the pass over the whole environment would fail when it is stored',
  },
  {
    what: 'a terminal escape',
    content: `${HEAD}spec: {} # \x1b[2J\n`,
    says: 'control character 27',
    at: [4, 12],
    reason: 'it would reach the terminal of whoever pushes',
  },
  {
    what: 'UTF-16 with a byte order mark',
    content: Buffer.from(`\ufeff${HEAD}spec: {}\n`, 'utf16le'),
    says: 'UTF-16',
    at: [1, 1],
    reason: 'an editor of Windows saved it',
  },
  {
    what: 'UTF-16 without a byte order mark',
    content: Buffer.from(`${HEAD}spec: {}\n`, 'utf16le'),
    says: 'NUL byte',
    at: [1, 2],
    reason: 'it is valid UTF-8 with a NUL after each letter',
  },
  {
    what: 'Latin-1',
    content: Buffer.from(`${HEAD}spec: { description: Gr\u00fc\u00dfe }\n`, 'latin1'),
    says: 'not UTF-8',
    at: [4, 24],
    reason: 'the letters would be silently replaced',
  },
  {
    what: 'merge conflict markers',
    content: `${HEAD}spec:\n<<<<<<< HEAD\n  deployed: true\n=======\n  deployed: false\n>>>>>>> other\n`,
    says: 'marker of a merge conflict',
    at: [5, 1],
    reason: 'one of the two halves alone may be valid',
  },
  {
    what: 'an LFS pointer',
    content: 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n',
    says: 'pointer of git LFS',
    at: [1, 1],
    reason: 'a pointer is valid YAML by accident',
  },
  {
    what: '__proto__ as a key',
    content: `${HEAD}spec:\n  global: { __proto__: { polluted: true } }\n`,
    says: '__proto__',
    at: [5, 13],
    reason: 'it would change the prototype',
  },
  {
    what: 'a merge key',
    content: `${HEAD}spec:\n  <<: { deployed: true }\n`,
    says: 'merge key',
    at: [5, 3],
    reason: 'YAML 1.2 has none, and engines differ on it',
  },
  {
    what: 'a YAML 1.1 directive',
    content: `%YAML 1.1\n---\n${HEAD}spec: { description: NO }\n`,
    says: 'directives are not accepted',
    at: [1, 1],
    reason: 'NO would become false',
  },
  {
    what: 'a list as a key',
    content: `${HEAD}spec:\n  ? [a, b]\n  : c\n`,
    says: 'a key must be text',
    at: [5, 5],
    reason: 'JSON has no such keys',
  },
  {
    what: 'an alias without an anchor',
    content: `${HEAD}spec:\n  description: *nothing\n`,
    says: 'no anchor &nothing',
    at: [5, 16],
    reason: 'there is nothing it could stand for',
  },
  {
    what: 'an alias to what it stands in',
    content: `${HEAD}spec:\n  global: &g { again: *g }\n`,
    says: 'inside of what it stands for',
    at: [5, 23],
    reason: 'the value would have no end',
  },
  {
    what: 'a whole number beyond 2^53',
    content: `${HEAD}spec:\n  values: { id: 12345678901234567890 }\n`,
    says: 'too large to be kept exactly',
    at: [5, 17],
    reason: 'its last digits would change unseen',
  },
  {
    what: 'infinity',
    content: `${HEAD}spec:\n  values: { limit: .inf }\n`,
    says: 'must be finite',
    at: [5, 20],
    reason: 'JSON turns it into null',
  },
  {
    what: 'an unclosed quote',
    content: `${HEAD}spec:\n  description: "never ends\n`,
    says: 'missing closing',
    at: [6, 1],
    reason: 'it swallows what follows',
  },
  {
    what: 'half a million numbers',
    content: `a: [${'1,'.repeat(MIB / 2 - 10)}]`,
    says: 'too many values',
    at: [1, 166_668],
    reason: 'one file must not keep the controller busy',
  },
  {
    what: 'a hundred thousand keys',
    content: Array.from({ length: 90_000 }, (_, index) => `k${index}: 1`).join('\n'),
    says: 'too many values',
    at: [35_715, 7],
    reason: 'comparing each key with every other takes minutes',
  },
  {
    what: 'a hundred thousand directives',
    content: '%FOO bar\n'.repeat(100_000),
    says: 'directives are not accepted',
    at: [1, 1],
    reason: 'each costs a warning',
  },
];

const FINE: [what: string, content: string, description: unknown][] = [
  ['a byte order mark', `\ufeff${HEAD}spec: { description: x }\n`, 'x'],
  ['CRLF', `${HEAD}spec:\n  description: |\n    a\n    b\n`.replaceAll('\n', '\r\n'), 'a\nb\n'],
  ['NO as text', `${HEAD}spec: { description: NO }\n`, 'NO'],
  ['an anchor and its alias', `${HEAD}spec: { values: { a: &x hello }, description: *x }\n`, 'hello'],
  ['a core tag', `${HEAD}spec: { description: !!str 1.10 }\n`, '1.10'],
  ['empty documents around', `---\n---\n${HEAD}spec: { description: x }\n---\n# only a comment\n`, 'x'],
  ['equals signs in a block', `${HEAD}spec:\n  description: |\n    =======\n`, '=======\n'],
];

describe('YAML that means harm, or only means well', () => {
  for (const { what, content, says, at, reason } of TRAPS) {
    it(`refuses ${what}: ${reason}`, () => {
      const { problems, manifests } = readManifests(content);
      expect(manifests).to.deep.equal([]);
      const [first] = problems;
      expect(first?.stage).to.equal('parse');
      expect(first?.message).to.include(says);
      expect([first?.line, first?.column]).to.deep.equal(at);
      expect(first?.hint).to.not.equal('');
    });
  }

  for (const [what, content, description] of FINE) {
    it(`reads ${what}`, () => {
      const { manifests, problems } = readManifests(content);
      expect(problems).to.deep.equal([]);
      expect(manifests.map(({ spec }) => ('description' in spec ? spec.description : null))).to.deep.equal([
        description,
      ]);
    });
  }

  for (const [what, text, line, column] of [
    ['a value', 'spec: { description: {{ .Values.text }} }\n', 4, 22],
    ['a line', '{{- if .Values.on }}\nspec: {}\n{{- end }}\n', 4, 1],
    ['a map', 'spec:\n  nodeSelector:\n    {{- include "x.labels" . | nindent 4 }}\n', 6, 5],
    ['a value behind a text', 'spec: { description: "{{ mine }}", logLevel: {{ .Values.level }} }\n', 4, 46],
  ] as const)
    it(`knows a template of Helm in the place of ${what}`, () => {
      const { problems } = readManifests(`${HEAD}${text}`);
      expect(problems).to.have.length(1);
      expect(problems[0]).to.deep.include({ stage: 'parse', line, column });
      expect(problems[0]?.message).to.include('Helm');
    });

  it("leaves Vector's own templates alone, and says of other faults what they are", () => {
    const index = (text: string) => readManifests(`${HEAD}spec: { values: { index: ${text} } }\n`);
    for (const text of ['"{{ host }}-%F"', "'{{ host }}'", '"a {{ .b }} c"'])
      expect(index(text).problems).to.deep.equal([]);
    const plain = readManifests(`${HEAD}spec:\n  description: logs-{{ host }}-%F\n`);
    expect(plain.manifests[0]?.spec).to.have.property('description', 'logs-{{ host }}-%F');
    expect(index('"{{ host }}" more').problems[0]?.message).to.not.include('Helm');
  });

  it('allows top-level x- fields for anchors, which mean nothing by themselves', () => {
    const aliased = readManifests(
      `${HEAD.replace('metadata', 'x-parts: { text: &text hello }\nmetadata')}spec: { description: *text }\n`,
    );
    expect(aliased.problems).to.deep.equal([]);
    const plain = readManifests(`${HEAD}spec: { description: hello }\n`);
    expect(aliased.manifests[0]?.hash).to.equal(plain.manifests[0]?.hash);
    const [unknown] = readManifests(`${HEAD}anchors: 1\nspec: {}\n`).problems;
    expect(unknown?.hint).to.include('begin with x-');
    expect(readManifests(`${HEAD}spec: { x-parts: 1 }\n`).problems).to.have.length(1);
  });

  it('reads 012 as twelve and 1.10 as a number, as YAML 1.2 says', () => {
    const { manifests } = readManifests(`${HEAD}spec: { values: { a: 012, b: 1.10, c: 0o14 } }\n`);
    expect(manifests[0]?.spec).to.have.property('values').that.deep.equals({ a: 12, b: 1.1, c: 12 });
  });

  it('finds nothing in an empty file', () => {
    expect(readManifests('')).to.deep.equal({ documents: [], manifests: [], problems: [] });
    expect(readManifests('# only a comment\n').documents).to.deep.equal([]);
  });

  it('reads the other documents of a file in which one is wrong', () => {
    const good = (name: string) =>
      `apiVersion: headgate/v1\nkind: Pipeline\nmetadata: { name: ${name} }\nspec: {}\n`;
    const { manifests, problems } = readManifests(
      [good('a'), `${HEAD}spec: { deployd: true }\n`, good('b')].join('---\n'),
    );
    expect(manifests.map(({ name, docIndex }) => [name, docIndex])).to.deep.equal([
      ['a', 0],
      ['b', 2],
    ]);
    expect(problems.map(({ kind, name, line }) => [kind, name, line])).to.deep.equal([
      ['Pipeline', 'one', 9],
    ]);
  });

  it('answers any bytes without a crash', () => {
    const alphabet = ' \n:-[]{}?&*!|>\'"%@`#,ab';
    let seed = 7;
    const next = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed;
    };
    for (let round = 0; round < 200; round += 1) {
      const text = Array.from({ length: 2000 }, () => alphabet[next() % alphabet.length]).join('');
      const { manifests } = readManifests(`${HEAD}spec: ${text}`);
      expect(manifests.length).to.be.at.most(1);
    }
  });
});
