// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as they stand in manifests
import { expect } from 'chai';
import { CannotEdit } from '../../../reconcilers/write-back/yaml/cannot-edit.ts';
import {
  type Edit,
  editDocument,
  removeDocument,
} from '../../../reconcilers/write-back/yaml/edit-document.ts';

type Row = [what: string, before: string, edit: Edit | Edit[], after: string];

const ROWS: Row[] = [
  ['keeps quotes', `a: "x" # c\n`, { pointer: '/a', value: 'y' }, `a: "y" # c\n`],
  ['keeps single quotes', `a: 'x'\n`, { pointer: '/a', value: "it's" }, `a: 'it''s'\n`],
  ['quotes what would be read as something else', 'a: x\n', { pointer: '/a', value: 'true' }, 'a: "true"\n'],
  ['takes the quotes off a number', 'a: "1"\n', { pointer: '/a', value: 2 }, 'a: 2\n'],
  ['keeps the anchor of a value that nobody shares', 'a: &x 1\n', { pointer: '/a', value: 2 }, 'a: &x 2\n'],
  [
    'replaces an alias by a value of its own',
    'a: &x 1\nb: *x\n',
    { pointer: '/b', value: 2 },
    'a: &x 1\nb: 2\n',
  ],
  [
    'types only the lines of a block that change',
    'a: | # p\n     one\n     two\n\n     three\nb: 1\n',
    { pointer: '/a', value: 'one\n2\n\nthree\n' },
    'a: | # p\n     one\n     2\n\n     three\nb: 1\n',
  ],
  [
    'makes a block of a text of several lines',
    'a: x # c\nb: 1\n',
    { pointer: '/a', value: 'x\ny\n' },
    'a: | # c\n  x\n  y\nb: 1\n',
  ],
  [
    'strips the last line break of a block',
    'a: |\n  x\n',
    { pointer: '/a', value: 'x\ny' },
    'a: |-\n  x\n  y\n',
  ],
  [
    'keeps CRLF',
    'a: 1\r\nb: |\r\n  x\r\n',
    { pointer: '/b', value: 'x\ny\n' },
    'a: 1\r\nb: |\r\n  x\r\n  y\r\n',
  ],
  [
    'adds behind what stands last, before comments of what follows',
    'a:\n    b: 1\n# about c\nc: 2\n',
    { pointer: '/a/d', value: [1] },
    'a:\n    b: 1\n    d:\n        - 1\n# about c\nc: 2\n',
  ],
  ['adds to a text without a last line break', 'a: 1', { pointer: '/b', value: 2 }, 'a: 1\nb: 2'],
  ['adds to braces', 'a: { b: 1 } # c\n', { pointer: '/a/d', value: 'x, y' }, 'a: { b: 1, d: "x, y" } # c\n'],
  ['fills empty braces', 'a: {}\n', { pointer: '/a/b', value: 1 }, 'a: { b: 1 }\n'],
  [
    'fills what was left empty',
    'a: # nothing yet\nb: 1\n',
    { pointer: '/a/x/y', value: 1 },
    'a: # nothing yet\n  x:\n    y: 1\nb: 1\n',
  ],
  [
    'adds the parents that are missing',
    'a: 1\n',
    { pointer: '/b/c/d', value: 'x' },
    'a: 1\nb:\n  c:\n    d: x\n',
  ],
  [
    'removes a line and leaves comments',
    '# top\na: 1\n# about b\nb: 2 # two\nc: 3\n',
    { pointer: '/b', value: undefined },
    '# top\na: 1\n# about b\nc: 3\n',
  ],
  [
    'leaves an empty map where its last field goes',
    'a:\n  b: 1\nc: 2\n',
    { pointer: '/a/b', value: undefined },
    'a: {}\nc: 2\n',
  ],
  [
    'removes the field behind a dash',
    '- x: 1\n  y: 2\n- z: 3\n',
    { pointer: '/0/x', value: undefined },
    '- y: 2\n- z: 3\n',
  ],
  ['removes from brackets', 'a: [x, y, z]\n', { pointer: '/a/1', value: undefined }, 'a: [x, z]\n'],
  ['removes the last of brackets', 'a: [x, y, z]\n', { pointer: '/a/2', value: undefined }, 'a: [x, y]\n'],
  [
    'removes a line of brackets',
    'a: [\n  x,\n  y, # why\n  z\n]\n',
    { pointer: '/a/1', value: undefined },
    'a: [\n  x,\n  z\n]\n',
  ],
  [
    'inserts into a list with its dashes at the key',
    'a:\n- x\n# about y\n- y\n',
    { pointer: '/a/1', value: { k: [] }, insert: true },
    'a:\n- x\n- k: []\n# about y\n- y\n',
  ],
  ['appends', 'a:\n  - x\n\nb: 1\n', { pointer: '/a/-', value: 'y' }, 'a:\n  - x\n  - y\n\nb: 1\n'],
  [
    'takes pointers with signs',
    'a: { x/y: { "~": 1 } }\n',
    { pointer: '/a/x~1y/~0', value: 2 },
    'a: { x/y: { "~": 2 } }\n',
  ],
  [
    'does several edits in their order',
    'a:\n  - x\n  - y\n',
    [
      { pointer: '/a/0', value: undefined },
      { pointer: '/a/0', value: 'z' },
      { pointer: '/b', value: true },
    ],
    'a:\n  - z\nb: true\n',
  ],
];

const REFUSED: [what: string, text: string, edit: Edit, reason: RegExp][] = [
  ['a value that an alias shares', 'a: &x 1\nb: *x\n', { pointer: '/a', value: 2 }, /shared: \*x/],
  [
    'a field of a map that an alias shares',
    'a: &x { k: 1 }\nb: *x\n',
    { pointer: '/a/k', value: 2 },
    /shared: \*x/,
  ],
  ['a field below an alias', 'a: &x { k: 1 }\nb: *x\n', { pointer: '/b/k', value: 2 }, /alias \(\*x\)/],
  ['an anchor within what goes', 'a: { k: &x 1 }\nb: *x\n', { pointer: '/a', value: undefined }, /shared/],
  ['a merge key', 'a: &x { k: 1 }\nb:\n  <<: *x\n', { pointer: '/b/c', value: 2 }, /merge key/],
  ['a $file', 'a: { $file: x.vrl }\n', { pointer: '/a', value: '.x' }, /\$file: x\.vrl/],
  [
    'a value of the environment',
    'a: "http://${value.host}/"\n',
    { pointer: '/a', value: 'http://h/' },
    /\$\{value\.host\}/,
  ],
  ['a field of a text', 'a: x\n', { pointer: '/a/b', value: 1 }, /has no fields/],
  ['a tag that says otherwise', 'a: !!str 1\n', { pointer: '/a', value: 2 }, /without changing other lines/],
  ['a file that is no YAML', 'a: [\n', { pointer: '/a', value: 2 }, /no sound YAML/],
  ['a list entry that is far behind the end', 'a: [1]\n', { pointer: '/a/5', value: 2 }, /no entry 5/],
];

describe('an edit of a document', () => {
  for (const [what, before, edit, after] of ROWS) {
    it(what, () => {
      expect(editDocument(before, 0, [edit].flat())).to.equal(after);
    });
  }

  for (const [what, text, edit, reason] of REFUSED) {
    it(`refuses ${what}`, () => {
      expect(() => editDocument(text, 0, [edit]))
        .to.throw(CannotEdit)
        .with.property('message')
        .that.matches(reason);
    });
  }

  it('touches one of several documents, and keeps the byte order mark', () => {
    const text = '\ufeff# head\n---\na: 1\n--- # second\na: 1 # mine\n...\n# between\n---\na: 1';
    expect(editDocument(text, 1, [{ pointer: '/a', value: 2 }])).to.equal(
      text.replace('a: 1 # mine', 'a: 2 # mine'),
    );
    expect(editDocument(text, 2, [{ pointer: '/a', value: 2 }])).to.equal(`${text.slice(0, -1)}2`);
  });
});

describe('taking a document out of a file', () => {
  const FILE = '# about one\na: 1\n---\n# about two\nb: 2\n---\nc: 3\n';

  it('leaves the others as they are', () => {
    expect(removeDocument(FILE, 1)).to.equal('# about one\na: 1\n---\nc: 3\n');
    expect(removeDocument(FILE, 2)).to.equal('# about one\na: 1\n---\n# about two\nb: 2\n');
    expect(removeDocument(FILE, 0)).to.equal('---\n# about two\nb: 2\n---\nc: 3\n');
  });

  it('says where nothing is left', () => {
    expect(removeDocument('# only\na: 1\n', 0)).to.equal(null);
    expect(removeDocument('---\na: 1\n---\n# nothing\n', 0)).to.equal(null);
  });
});
