import { expect } from 'chai';
import { MANIFEST_PATH, readManifest } from '../../support/clients/read-manifests.ts';

const TEXT = `# a comment
apiVersion: headgate/v1
kind: Pipeline
metadata: { name: one }
spec:
  sources:
    app: { type: file, include: [/a.log, /b.log] }
  transforms:
    literal:
      type: remap
      inputs: [app]
      source: |
        .a = 1

        .b = nope()
    kept:
      type: remap
      inputs: [app]
      source: |2+
          .indented = true
        .c = 1
    folded:
      type: remap
      inputs: [app]
      source: >
        .a = 1
    quoted: { type: route, inputs: [app], route: { errors: '.level == "error"' } }
    file: { type: remap, inputs: [app], source: { $file: ../../../shared/vrl/a.vrl } }
  tests:
    - { name: t, component: literal, input: { $file: ../../../tests/one.json }, expect: "true" }
`;
const FILES = { 'shared/vrl/a.vrl': '.a = 1\n.b = 2\n', 'tests/one.json': '{"a": {"b": 1}}' };

describe('Places in a manifest', () => {
  const manifest = readManifest(TEXT, FILES);
  const at = (pointer: string) => manifest.at(pointer);
  const own = (line: number, column: number) => ({ path: MANIFEST_PATH, line, column });

  it('begins where the document begins', () => {
    expect([manifest.line, manifest.column]).to.deep.equal([2, 1]);
  });

  it('finds a field at its key and an item of a list at itself', () => {
    expect(at('/sources/app/type')).to.deep.equal(own(7, 12));
    expect(at('/sources/app/include/1')).to.deep.equal(own(7, 42));
    expect(at('')).to.deep.equal(own(5, 1));
  });

  it('goes to the nearest written ancestor of what is not written', () => {
    expect(at('/sources/app/auth/user')).to.deep.equal(own(7, 5));
    expect(at('/logLevel')).to.deep.equal(own(5, 1));
  });

  it('goes into the included file, also for what lies within a fixture', () => {
    expect(at('/transforms/file/source')).to.deep.equal({ path: 'shared/vrl/a.vrl', line: 1, column: 1 });
    expect(at('/tests/0/input/a/b')).to.deep.equal({ path: 'tests/one.json', line: 1, column: 1 });
    expect(at('/transforms/file/inputs')).to.deep.equal(own(28, 26));
  });

  it('is exact inside a literal block', () => {
    expect(manifest.inFile('/transforms/literal/source', 3, 6)).to.deep.equal(own(15, 14));
    expect(TEXT.split('\n')[14]?.slice(13)).to.equal('nope()');
  });

  it('is exact inside a literal block that says its own indentation', () => {
    expect(manifest.inFile('/transforms/kept/source', 1, 3)).to.deep.equal(own(20, 11));
    expect(TEXT.split('\n')[19]?.slice(10)).to.equal('.indented = true');
    expect(manifest.inFile('/transforms/kept/source', 2, 1)).to.deep.equal(own(21, 9));
  });

  it('is exact inside a quoted text on one line', () => {
    expect(manifest.inFile('/transforms/quoted/route/errors', 1, 1)).to.deep.equal(own(27, 61));
    expect(TEXT.split('\n')[26]?.slice(60)).to.match(/^\.level/);
  });

  it('goes to the beginning of a text in any other style', () => {
    expect(manifest.inFile('/transforms/folded/source', 1, 4)).to.deep.equal(own(25, 15));
  });

  it('is exact inside an included file', () => {
    expect(manifest.inFile('/transforms/file/source', 2, 6)).to.deep.equal({
      path: 'shared/vrl/a.vrl',
      line: 2,
      column: 6,
    });
  });

  it('keeps its lines with CRLF', () => {
    const other = readManifest(TEXT.replaceAll('\n', '\r\n'), FILES);
    expect(other.inFile('/transforms/literal/source', 3, 6)).to.deep.equal(own(15, 14));
    expect(other.at('/sources/app/type')).to.deep.equal(own(7, 12));
  });
});
