import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { parseYamlTextByLibrary } from '../../../reconcilers/source/yaml/yaml-file.ts';
import { quickDocuments } from '../../../reconcilers/source/yaml/yaml-quick.ts';

const MANIFEST = `# One of many
apiVersion: headgate/v1
kind: Pipeline
metadata:
  name: checkout     # as people say it
  labels: { team: shop, app.kubernetes.io/name: checkout }
spec:
  values: { index: checkout, limit: 10, ratio: 0.25, on: true, off: ~ }
  sources:
    app: { type: file, include: [/var/log/*.log, "/a b.log", 'it''s'], glob: { } }
    other:
      type: http_server
      address: 0.0.0.0:8080
      encoding:
  transforms:
    parse:
      type: remap
      inputs: [app]
      source: |
        . = parse_json!(.message) # no comment

        if .level == "error" {
          .limit = "\${value.limit}"
        }

    file:
      type: remap
      inputs:
      - app
      - other
      source: { $file: ../../shared/a.vrl }
  # further out
  sinks:
    "out":
      description: >-
        Sends everything
        to search
      inputs: [ parse , file ]
      endpoints: [https://search:9200/x?y=1&z=2#top]
  tests:
    - name: t
      component: parse
      input: { message: "{\\"a\\": 1}\\n" }
    -   name: u
        cases:
          - 1
          - -2
          - text: |-
              a
                b
            more: yes
---

---
kind: Other
time: 12:30
`;
const SMALL = [
  'a:\n  - b\n # c\n  - d\n# e\nf:\n- g\n# h\n- i: j\n  k:\n  - l\nm: n\n',
  'a: |\n  x\n   # y\n # z\nb: >\n  p q\n  r\n\n\nc: |-\n  s\n\n',
  "a: x#y\nb: x:y\nc: a'b\"c\nd: [x:y, a'b, -1, -x, a b c]\ne: {f: g:h}\n",
  'a: [ ]\nb: { }\nc:\n\n  # c\n  d: e\nf:\n# g\n',
  '# c\n---\n# d\na: 1 # e\n---\nb: 2',
];
const PIECES = [
  ...['\n', ' ', '  ', '    ', '- ', '-', ':', ': ', '#', ' #', "'", '"', '[', ']', '{', '}', ', ', ','],
  ...[
    '|',
    '|-',
    '|+',
    '|2',
    '>',
    '>-',
    '&a ',
    '*a',
    '!t ',
    '!!str ',
    '? ',
    '---\n',
    '--- ',
    '...\n',
    '%',
    '@',
  ],
  ...['`', '~', 'null', 'True', '0', '-0', '1.0', '5.', '+1', '0x1f', '0o7', '1e3', '1_0', '.inf', '.nan'],
  ...[
    '<<: ',
    '__proto__: ',
    '$file: x',
    '\\',
    '\\n',
    '\\u0041',
    '\\/',
    '"a": ',
    "'b': ",
    'k: v\n',
    '  k: v\n',
  ],
  ...['\t', '\r\n', '\ufeff', '\u00a0', '\u0085', '\u2028', '\u3000', 'é', '😀', '\ud800'],
  ...['\n\n', '\n  \n', '\n# c\n', '\n    # c\n', '- a\n', 'a: b: c', '""', "''", '{}', '[]', '2024-01-01'],
];

function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A part of a text with something put in, taken out, doubled or moved. */
function mutilated(text: string, next: (below: number) => number): string {
  const lines = text.split('\n');
  const line = next(lines.length);
  const at = next(text.length + 1);
  const piece = PIECES[next(PIECES.length)] ?? '';
  switch (next(7)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1 + next(3));
    case 1:
    case 2:
      return text.slice(0, at) + piece + text.slice(at);
    case 3:
      return lines.toSpliced(line, 0, lines[next(lines.length)] ?? '').join('\n');
    case 4:
      return lines.with(line, ` ${lines[line]}`).join('\n');
    case 5:
      return lines.with(line, (lines[line] ?? '').replace(/^ {1,2}/, '')).join('\n');
    default:
      return lines.with(line, `${lines[line]}${piece}`).join('\n');
  }
}

function library(text: string): unknown {
  const { documents, finding } = parseYamlTextByLibrary(text);
  return { finding, documents };
}

function quick(text: string): unknown {
  const documents = quickDocuments(text);
  return documents && { finding: null, documents: documents.map((one) => ({ ...one, findings: [] })) };
}

describe('The quick way to read YAML', () => {
  it('reads what manifests are mostly written in, exactly as the library does', () => {
    for (const text of [MANIFEST, ...SMALL, '', '# nothing\n']) {
      expect(quick(text)).to.not.equal(null);
      expect(quick(text)).to.deep.equal(library(text));
    }
  });

  it('reads exactly what the library reads, or nothing, whatever is done to a manifest', function () {
    this.timeout(30_000);
    const next = random(11);
    const lines = MANIFEST.split('\n');
    let read = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const begin = next(lines.length);
      const part = lines.slice(begin, begin + 4 + next(20));
      const margin = Math.min(...part.map((line) => /^ *(?=[^ #])/.exec(line)?.[0].length ?? 99));
      const whole = [part.map((line) => line.slice(margin)).join('\n'), ...SMALL];
      let text = whole[next(3) === 0 ? next(whole.length) : 0] ?? '';
      for (let left = next(3); left >= 0; left -= 1) text = mutilated(text, next);
      const mine = quick(text);
      if (mine === null) continue;
      read += 1;
      const theirs = library(text);
      // The order of keys counts too, which deep equality does not see.
      const same = isDeepStrictEqual(mine, theirs) && JSON.stringify(mine) === JSON.stringify(theirs);
      if (!same) expect({ text, read: mine }).to.deep.equal({ text, read: theirs });
    }
    expect(read).to.be.above(2000);
  });

  for (const [what, text] of [
    ['anchors and aliases', 'a: &x 1\nb: *x\n'],
    ['tags', 'a: !!str 1\n'],
    ['a duplicate key', 'a: 1\n"a": 2\n'],
    ['a merge key', '<<: { a: 1 }\n'],
    ['__proto__', 'a: { __proto__: 1 }\n'],
    ['tabs', 'a:\n\tb: 1\n'],
    ['CRLF', 'a: 1\r\n'],
    ['a text that goes on in the next line', 'a: b\n  c\n'],
    ['brackets over several lines', 'a: [b,\n  c]\n'],
    ['numbers that nobody writes', 'a: 0x1f\n'],
    ['negative zero, which keeps its sign', 'a: -0.0\n'],
    ['whole numbers of more than 15 digits', 'a: 1234567890123456\n'],
    ['an indentation that fits nothing', 'a:\n    b: 1\n  c: 2\n'],
    ['a list of lists', '- - a\n'],
    ['deep nesting', `a: ${'['.repeat(50)}${']'.repeat(50)}\n`],
    ['a long file', `a: ${'x'.repeat(70_000)}\n`],
    ['many documents', '---\n'.repeat(1100)],
    ['a block that says its indentation', 'a: |2\n    b\n'],
  ] as const) {
    it(`leaves ${what} to the library`, () => {
      expect(quickDocuments(text)).to.equal(null);
    });
  }
});
