import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { Document, parseDocument, Scalar, visit } from 'yaml';
import { readManifest } from '../../support/clients/read-manifests.ts';

const HEAD = 'apiVersion: headgate/v1\nkind: Pipeline\nmetadata: { name: one }\n';
const hashOf = (spec: string, files: Record<string, string> = {}) =>
  readManifest(`${HEAD}spec:\n${spec}`, files).hash;

const BASE = `  deployed: true
  sources:
    app: { type: file, include: [/var/log/app.log], read_from: beginning }
  sinks:
    out: { type: console, inputs: [app] }
`;

describe('The semantic hash', () => {
  const same: [what: string, spec: string][] = [
    [
      'the order of fields',
      '  sinks:\n    out: { inputs: [app], type: console }\n  sources:\n    app: { read_from: beginning, include: [/var/log/app.log], type: file }\n  deployed: true\n',
    ],
    ['comments and blank lines', `  # why\n\n${BASE.replaceAll('\n', '  # because\n')}`],
    [
      'quotes',
      BASE.replace('file,', '"file",')
        .replace('beginning', "'beginning'")
        .replace('deployed:', '"deployed":'),
    ],
    [
      'flow or block style',
      BASE.replace(
        'out: { type: console, inputs: [app] }',
        'out:\n      type: console\n      inputs:\n        - app',
      ),
    ],
    [
      'a default that is written out',
      `${BASE}  logLevel: info\n  suspend: false\n  transforms: {}\n  tests: []\n`,
    ],
    ['a default that is left out', BASE.replace('  deployed: true\n', '')],
    [
      'titles and positions of the editor',
      `${BASE}  components: { app: { displayName: App, position: [1, 2], disabled: false } }\n`,
    ],
    ['line endings', BASE.replaceAll('\n', '\r\n')],
  ];
  for (const [what, spec] of same) {
    it(`does not see ${what}`, () => {
      expect(hashOf(spec)).to.equal(hashOf(BASE));
    });
  }

  const different: [what: string, spec: string][] = [
    ['an option', BASE.replace('beginning', 'end')],
    ['a component that is switched off', `${BASE}  components: { app: { disabled: true } }\n`],
    ['the order of inputs', BASE.replace('[app]', '[app, app]')],
    ['a number that became text', BASE.replace('beginning', '1')],
    ['deployed', BASE.replace('true', 'false')],
  ];
  for (const [what, spec] of different) {
    it(`sees ${what}`, () => {
      expect(hashOf(spec)).to.not.equal(hashOf(BASE));
    });
  }

  it('sees the content of an included file, not its name or line endings', () => {
    const spec = (name: string) =>
      `  transforms: { t: { type: remap, inputs: [a], source: { $file: ../../../shared/${name} } } }\n`;
    const first = hashOf(spec('a.vrl'), { 'shared/a.vrl': '.a = 1\n' });
    expect(hashOf(spec('b.vrl'), { 'shared/b.vrl': '.a = 1\r\n' })).to.equal(first);
    expect(hashOf(spec('a.vrl'), { 'shared/a.vrl': '.a = 2\n' })).to.not.equal(first);
    expect(hashOf('  transforms: { t: { type: remap, inputs: [a], source: ".a = 1\\n" } }\n')).to.equal(
      first,
    );
  });

  it('is the same for one spec in any style of YAML', function () {
    this.timeout(30_000);
    const key = fc
      .stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/)
      .filter((name) => !/pass|token|secret|key|cred|conn|auth|pwd/i.test(name));
    const text = fc.string({ unit: fc.constantFrom(...'ab1 .:-#\'"\\{}[],&*!|>%@`\n~=é'), maxLength: 30 });
    const leaf = fc.oneof(
      text,
      fc.integer(),
      fc.boolean(),
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
    );
    const option = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    const component = fc
      .dictionary(key, option, { maxKeys: 4 })
      .map((options) => ({ ...options, type: 'file', inputs: ['a'] }));
    const spec = fc.record({
      deployed: fc.boolean(),
      transforms: fc.dictionary(key, component, { maxKeys: 4 }),
    });
    const styles = fc.array(fc.nat(), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(spec, styles, styles, (value, one, other) => {
        const texts = [render(value, one), render(value, other)] as const;
        // In rare styles the writer of the library changes the value or writes what is no YAML.
        fc.pre(texts.every((text) => reads(text, value)));
        expect(readManifest(texts[0]).hash).to.equal(readManifest(texts[1]).hash);
      }),
      { numRuns: 100 },
    );
  });
});

function reads(text: string, spec: unknown): boolean {
  const document = parseDocument(text);
  return document.errors.length === 0 && isDeepStrictEqual(document.toJS().spec, spec);
}

const SCALAR_STYLES = [
  Scalar.PLAIN,
  Scalar.QUOTE_DOUBLE,
  Scalar.QUOTE_SINGLE,
  Scalar.BLOCK_LITERAL,
  Scalar.BLOCK_FOLDED,
] as const;

/** The same values in a style that follows from the numbers: order of keys, quotes, blocks, flow, comments. */
function render(spec: unknown, choices: readonly number[]): string {
  let turn = 0;
  const choose = (count: number) => {
    turn += 1;
    return (choices[turn % choices.length] ?? 0) % count;
  };
  const document = new Document(
    { apiVersion: 'headgate/v1', kind: 'Pipeline', metadata: { name: 'one' }, spec },
    { aliasDuplicateObjects: false },
  );
  visit(document, {
    Map: (_, node) => {
      node.flow = choose(3) === 0;
      if (choose(2) === 0) node.items.reverse();
    },
    Seq: (_, node) => {
      node.flow = choose(2) === 0;
    },
    Scalar: (position, node) => {
      if (typeof node.value === 'string' && position !== 'key')
        node.type = SCALAR_STYLES[choose(SCALAR_STYLES.length)] ?? 'PLAIN';
      if (choose(6) === 0 && position !== 'key') node.comment = ' why not';
    },
  });
  return document.toString({ indent: 2 + choose(3), indentSeq: choose(2) === 0, lineWidth: 20 + choose(80) });
}
