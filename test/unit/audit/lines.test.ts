/** Events as lines of a file: what a spreadsheet or a program reads is what happened, and no formula runs. */
import { expect } from 'chai';
import fc from 'fast-check';
import { CSV_HEADER, csvLine, ndjsonLine } from '../../../api/audit/export-lines.ts';
import type { AuditEntryView } from '../../../schemas/api/insight/audit.ts';

const ENTRY: AuditEntryView = {
  ...{ id: 'a', seq: 7, actorType: 'user', userId: 'u', userEmail: 'ada@example.org', actorName: 'Ada' },
  ...{ action: 'secret.created', entityType: 'Secret', entityId: 's', diff: null, metadata: null },
  ...{
    ipAddress: '192.0.2.7',
    teamId: 't',
    teamName: 'Team',
    environmentId: 'e',
    environmentName: 'staging',
  },
  ...{ commitSha: null, createdAt: new Date(0), prevHash: '0', hash: '1' },
};

/** As RFC 4180 says, and no other way. */
function readCsv(text: string): string[][] {
  const records: string[][] = [];
  let at = 0;
  while (at < text.length) {
    const record: string[] = [];
    for (;;) {
      let cell = '';
      if (text[at] === '"') {
        at += 1;
        for (;;) {
          const quote = text.indexOf('"', at);
          cell += text.slice(at, quote);
          at = quote + 1;
          if (text[at] !== '"') break;
          cell += '"';
          at += 1;
        }
      } else {
        const end = /[,\r]/.exec(text.slice(at))!.index + at;
        cell = text.slice(at, end);
        expect(cell).not.to.match(/["\n]/);
        at = end;
      }
      record.push(cell);
      if (text[at] !== ',') break;
      at += 1;
    }
    expect(text.slice(at, at + 2)).to.equal('\r\n');
    at += 2;
    records.push(record);
  }
  return records;
}
const inCsv = (entry: AuditEntryView) => {
  const [header = [], record = []] = readCsv(CSV_HEADER + csvLine(entry));
  expect(record).to.have.length(header.length);
  return Object.fromEntries(header.map((name, n) => [name, record[n] ?? '']));
};

describe('an event as a line', () => {
  it('of CSV has a cell for each field, and JSON for what changed', () => {
    const line = inCsv({ ...ENTRY, diff: { name: ['a, "b"', 'c\nd'] } });
    expect(Object.keys(line).sort()).to.deep.equal(Object.keys(ENTRY).sort());
    expect(line).to.include({
      ...{ seq: '7', createdAt: '1970-01-01T00:00:00.000Z', commitSha: '', metadata: '' },
      diff: '{"name":["a, \\"b\\"","c\\nd"]}',
    });
  });

  for (const sign of ['=', '+', '-', '@', '\t', '\r'])
    it(`of CSV is no formula where a text begins with ${JSON.stringify(sign)}`, () => {
      const text = `${sign}HYPERLINK("http://example.org","x")`;
      expect(inCsv({ ...ENTRY, entityId: text }).entityId).to.equal(`'${text}`);
    });

  it('of CSV is read back as it was, whatever its texts hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary-ascii' }), (one, other) => {
        const line = inCsv({ ...ENTRY, userEmail: one, action: other });
        const plain = (text: string) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
        expect([line.userEmail, line.action]).to.deep.equal([plain(one), plain(other)]);
        expect(line.userEmail).not.to.match(/^[=+\-@\t\r]/);
      }),
    );
  });

  it('of NDJSON is the event as JSON on one line', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const line = ndjsonLine({ ...ENTRY, metadata: { value } });
        expect(line.indexOf('\n')).to.equal(line.length - 1);
        expect(JSON.parse(line)).to.deep.equal(JSON.parse(JSON.stringify({ ...ENTRY, metadata: { value } })));
      }),
    );
  });
});
