/** The parser of Fluentd's configurations. Facts are from docs.fluentd.org, "Config File Syntax". */
import { expect } from 'chai';
import fc from 'fast-check';
import type { ConfigDirective } from '../../../controller/pipelines/migration/fluentd/config-tree.ts';
import {
  listBlocks,
  MAX_CONFIG_BYTES,
  parseFluentd,
} from '../../../controller/pipelines/migration/fluentd/index.ts';
import { parseCounted } from '../../../controller/pipelines/migration/fluentd/parse/parse-fluentd.ts';

const paramsOf = (text: string) => parseFluentd(`<source>\n${text}\n</source>`).directives[0]?.params ?? [];
const problemsOf = (text: string) =>
  parseFluentd(text).problems.map(({ severity, line, column }) => `${severity} ${line}:${column}`);

/** What is written behind a key, and the value that Fluentd reads. */
const VALUES: readonly { written: string; value: string; reason: string }[] = [
  { written: 'a  b', value: 'a  b', reason: 'a value without quotes may have blanks' },
  { written: '  a   ', value: 'a', reason: 'blanks around a value do not count' },
  { written: '#a', value: '#a', reason: 'a value may begin with #' },
  { written: 'a#b', value: 'a#b', reason: '# after a character is text' },
  { written: 'a # b', value: 'a', reason: '# after a blank begins a comment' },
  { written: '\\n', value: '\\n', reason: 'there are no escapes without quotes' },
  { written: '"a # b"', value: 'a # b', reason: '# in quotes is text' },
  { written: '"a\\n\\"\\\\\\["', value: 'a\n"\\[', reason: 'double quotes have escapes' },
  { written: '"a\n  b"', value: 'a\n  b', reason: 'double quotes may go over lines' },
  { written: '"a\\\n  b"', value: 'a  b', reason: 'a backslash joins lines' },
  { written: "'a\\n\\'\\\\'", value: "a\\n'\\", reason: 'single quotes have two escapes' },
  { written: "'#{x}'", value: '#{x}', reason: 'single quotes have no Ruby' },
  { written: '["a", # c\n"b"]', value: '["a", \n"b"]', reason: 'JSON may have lines and comments' },
  { written: '{"a":"# no comment"}', value: '{"a":"# no comment"}', reason: 'a string of JSON may have #' },
  { written: '', value: '', reason: 'a key may stand alone' },
  { written: '/a "b"#{c}/', value: '/a "b"#{c}/', reason: 'an expression is text' },
];

describe('a configuration of Fluentd', () => {
  for (const { written, value, reason } of VALUES) {
    it(`is read so that ${reason}`, () => {
      const [param] = paramsOf(`k ${written}`);
      expect(param).to.deep.include({ key: 'k', value, line: 2, embeddedRuby: [] });
    });
  }

  it('gives the Ruby in double quotes and in JSON', () => {
    const [double, json] = paramsOf('k "a#{ENV["X"] || "}"}b"\nj {"h":"#{hostname}"}');
    expect(double).to.deep.include({ value: 'a#{ENV["X"] || "}"}b', embeddedRuby: ['ENV["X"] || "}"'] });
    expect(json).to.deep.include({ quoting: 'json', embeddedRuby: ['hostname'] });
  });

  it('gives directives with their arguments and lines', () => {
    const text =
      '<label @A>\n  <match a.** "b" >\n    <buffer tag, time>\n    </buffer> # c\n  </match>\n</label>';
    const [label] = parseFluentd(text).directives;
    expect(label).to.deep.include({ name: 'label', argument: '@A', line: 1, endLine: 6 });
    expect(label?.children[0]).to.deep.include({ name: 'match', argument: 'a.** "b"', line: 2, endLine: 5 });
    expect(label?.children[0]?.children[0]).to.deep.include({ argument: 'tag, time', endLine: 4 });
  });

  it('lists blocks of labels and workers with what decides about their events', () => {
    const text =
      '<worker 0>\n<source>\n@type tail\n</source>\n</worker>\n<label @A>\n<filter>\n@type grep\n</filter>\n</label>\n<thing>\n</thing>';
    expect(
      listBlocks(text, parseFluentd(text)).map((block) => [
        ...[block.id, block.directive, block.plugin, block.pattern, block.label, block.line, block.endLine],
      ]),
    ).to.deep.equal([
      ['b1', 'source', 'tail', '', null, 2, 4],
      ['b2', 'filter', 'grep', '**', '@A', 7, 9],
      ['b3', 'unknown', null, '', null, 11, 12],
    ]);
  });

  const PROBLEMS: readonly [string, string[], string][] = [
    ['@include conf.d/*.conf', ['warning 1:1'], 'names a file that is missing'],
    ['include a.conf', ['warning 1:1', 'warning 1:1'], 'includes in the old way'],
    ['k v', ['warning 1:1'], 'has a parameter outside of directives'],
    ['<source>\n  type tail\n</source>', ['warning 2:3'], 'has a type without @'],
    ['<source>\n  @foo tail\n</source>', ['warning 2:3'], 'has a name that is reserved'],
    ['<source>', ['error 1:9'], 'has a directive that is not closed'],
    ['</source>', ['error 1:1'], 'closes what is not open'],
    ['<a>\n<b>\n</a>', ['error 3:1'], 'closes a directive before its inner one'],
    ['<a>\nk "x" y\n</a>', ['error 2:7'], 'has text behind quotes'],
    ['<a>\nk "\\d"\n</a>', ['error 2:4'], 'has an escape that does not exist'],
    ['<a>\nk "x\n</a>', ['error 2:3'], 'has quotes that do not end'],
    ["<a>\nk 'x\n</a>", ['error 2:3'], 'has single quotes over lines'],
    ['<a>\nk [x]\n</a>', ['error 2:3'], 'has JSON that is none'],
    ['<a>\nk {"a":\n</a>', ['error 2:3'], 'has JSON that does not end'],
    ['<a></a>', ['error 1:4', 'error 1:8'], 'has two directives on a line'],
    ['<a\n', ['error 1:1'], 'has a directive without >'],
  ];
  for (const [text, problems, reason] of PROBLEMS) {
    it(`has a problem with its place if it ${reason}`, () => {
      expect(problemsOf(text)).to.deep.equal(problems);
    });
  }

  it('has at most 500 KB, 32 levels, 4,000 directives and 200 problems', () => {
    const messageOf = (text: string) => parseFluentd(text).problems[0]?.message;
    expect(messageOf('#'.repeat(MAX_CONFIG_BYTES + 1))).to.match(/the limit is 512000 \(500 KB\)/);
    expect(messageOf('<a>\n'.repeat(40))).to.match(/nested deeper than 32/);
    expect(messageOf('<a>\n</a>\n'.repeat(5_000))).to.match(/more than 4000 directives/);
    expect(messageOf(`<a>\nk ${'['.repeat(100)}\n</a>`)).to.match(/nested deeper than 32/);
    expect(parseFluentd('</a>\n'.repeat(1_000)).problems).to.have.length(201);
  });
});

const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
/** Texts with all that could be taken for syntax. */
const value = fc
  .string({ unit: fc.constantFrom(...'ab "\'\\#{}[]<>\n\t=/é') })
  .filter((text) => !text.includes('#{'));
interface Made {
  name: string;
  argument: string;
  params: { key: string; value: string }[];
  children: Made[];
}
const { directive } = fc.letrec<{ directive: Made }>((tie) => ({
  directive: fc.record({
    name: word,
    argument: fc.constantFrom('', '**', 'a.** b', '@X', '{a,b}.*'),
    params: fc.array(fc.record({ key: word.filter((key) => key !== 'type' && key !== 'id'), value }), {
      maxLength: 4,
    }),
    children: fc.oneof(
      { depthSize: 'small' as const },
      fc.constant<Made[]>([]),
      fc.array(tie('directive'), { maxLength: 3 }),
    ),
  }),
}));

const quote = (text: string): string =>
  `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;
const print = ({ name, argument, params, children }: Made): string =>
  [
    `<${name}${argument === '' ? '' : ` ${argument}`}> # a comment`,
    ...params.map((param) => `  ${param.key} ${quote(param.value)}`),
    ...children.map(print),
    `</${name}>`,
  ].join('\n');
const shapeOf = ({ name, argument, params, children }: ConfigDirective | Made): unknown => ({
  ...{ name, argument, params: params.map((param) => [param.key, param.value]) },
  children: children.map(shapeOf),
});

describe('the parser of configurations', () => {
  it('reads a printed tree back', () => {
    fc.assert(
      fc.property(fc.array(directive, { maxLength: 4 }), (tree) => {
        const { directives, problems } = parseFluentd(tree.map(print).join('\n\n'));
        expect(problems).to.deep.equal([]);
        expect(directives.map(shapeOf)).to.deep.equal(tree.map(shapeOf));
      }),
      { numRuns: 200 },
    );
  });

  it('never throws, and looks at each character a few times only', () => {
    const parts = [
      '<',
      '>',
      '</',
      'a',
      '"',
      "'",
      '#',
      '#{',
      '}',
      '{',
      '[',
      ']',
      '\\',
      '\n',
      ' ',
      '@include ',
      'k v\n',
      '<a>\n',
      '</a>\n',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 6 }), (pattern) => {
        const unit = pattern.join('');
        const text = unit.repeat(Math.ceil(20_000 / unit.length));
        expect(parseCounted(text).steps).to.be.below(text.length * 8);
      }),
      { numRuns: 150 },
    );
  });

  it('takes 500 KB of each hostile kind in linear steps', () => {
    for (const unit of [
      '<a>\n',
      '[',
      'k "',
      'k {"a":1}\n',
      "k '\n",
      '</a>\n',
      '#',
      'a ',
      '<',
      'k "#{',
      ' \n',
      '<a b\n',
      '<a>\n</a>\n',
      'k "\\',
      '<a>\nk [\n',
    ]) {
      const text = unit.repeat(Math.floor(MAX_CONFIG_BYTES / unit.length));
      expect(parseCounted(text).steps, unit).to.be.below(text.length * 8);
    }
  });
});
