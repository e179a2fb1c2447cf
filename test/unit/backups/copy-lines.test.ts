/** Rows of an archive as lines of COPY, read back as PostgreSQL documents that format. */
import { expect } from 'chai';
import fc from 'fast-check';
import { linesOf } from '../../../controller/backups/archive/lines.ts';
import { copyLinesOf } from '../../../controller/backups/restore/copy-lines.ts';

const table = { name: 'things', columns: ['id', 'note'] };
const SIGNS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** https://www.postgresql.org/docs/current/sql-copy.html, "Text Format". */
const readField = (field: string): string | null =>
  field === '\\N' ? null : field.replaceAll(/\\(.)/gs, (_, sign: string) => SIGNS[sign] ?? sign);
const readLines = (lines: Buffer): (string | null)[][] =>
  lines
    .toString()
    .slice(0, -1)
    .split('\n')
    .map((line) => line.split('\t').map(readField));

describe('lines of COPY', () => {
  const value = fc.option(
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom('\\', 'N', '.', 't', 'n', '\n', '\r', '\t', '\b', '"', 'ä', '😀') }),
    ),
  );

  it('hold every value, whatever signs are in it, and tell null from a text', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { minLength: 1 }), (rows) => {
        const content = linesOf(rows.map(([id, note]) => JSON.stringify({ note, id })));
        const read = copyLinesOf(content, table);
        expect(readLines(read.lines)).to.deep.equal(rows);
        expect(read.rows).to.equal(rows.length);
      }),
      { numRuns: 500 },
    );
  });

  it('hold all rows where they are longer than in the archive: bytes that are no UTF-8 become three', () => {
    const wrong = Buffer.alloc(100, 0xff);
    const row = Buffer.concat([Buffer.from('{"id":"'), wrong, Buffer.from('","note":null}\n')]);
    const { lines, rows } = copyLinesOf(Buffer.concat([row, row, row]), table);
    expect(readLines(lines)).to.deep.equal(Array(3).fill(['\ufffd'.repeat(100), null]));
    expect(rows).to.equal(3);
  });

  const WRONG: readonly [string, string, RegExp][] = [
    ['a number', '{"id":7,"note":null}', /a row of things has no text in id/],
    ['a lacking column', '{"id":"7"}', /a row of things has no text in note/],
    ['a list', '["7",null]', /a row of things is no JSON object/],
    ['half a row', '{"id":"7"', /a row of things is no JSON object/],
  ];
  for (const [what, line, reason] of WRONG)
    it(`are not made of ${what}`, () => {
      expect(() => copyLinesOf(Buffer.from(`${line}\n`), table)).to.throw(reason);
    });
});
