/** The part of a push that comes before its pack. */
import { expect } from 'chai';
import fc from 'fast-check';
import { PushTooLargeError, parsePush, refusalReport } from '../../../api/git/receive-pack.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const line = (text: string) => {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
};
const FLUSH = Buffer.from('0000');
const PACK = Buffer.from('PACK\0\0\0\x02');

describe('the commands of a push', () => {
  it('are read with the capabilities of the client, up to the flush packet', () => {
    const bytes = Buffer.concat([
      line(`${A} ${B} refs/heads/main\0 report-status side-band-64k agent=git/2`),
      line(`${A} ${'0'.repeat(40)} refs/heads/gone`),
      ...[FLUSH, PACK],
    ]);
    expect(parsePush(bytes)).to.deep.equal({
      commands: [
        { old: A, new: B, ref: 'refs/heads/main' },
        { old: A, new: '0'.repeat(40), ref: 'refs/heads/gone' },
      ],
      capabilities: new Set(['report-status', 'side-band-64k', 'agent=git/2']),
    });
  });

  it('leave lines of a shallow clone out, and read ids of sha-256', () => {
    const long = 'c'.repeat(64);
    const bytes = Buffer.concat([line(`shallow ${A}`), line(`${long} ${long} refs/heads/x\n`), FLUSH]);
    expect(parsePush(bytes)).to.deep.include({ commands: [{ old: long, new: long, ref: 'refs/heads/x' }] });
  });

  it('are none where there is only a flush packet, by which git asks who it is', () => {
    expect(parsePush(FLUSH)).to.deep.include({ commands: [] });
  });

  for (const text of ['PACK', '0003', '0001', 'zzzz', '    ', '-001'])
    it(`are no commands where a length is ${JSON.stringify(text)}`, () => {
      expect(parsePush(Buffer.from(text))).to.equal('broken');
    });

  it('are no commands where a line is none, as of a signed push', () => {
    const certificate = ['push-cert\0report-status', 'certificate version 0.1\n', 'push-cert-end\n'];
    expect(parsePush(Buffer.concat([...certificate.map(line), FLUSH]))).to.equal('broken');
    expect(parsePush(Buffer.concat([line('hello'), FLUSH]))).to.equal('broken');
  });

  it('are read whatever the case of their ids, as git reads them', () => {
    const bytes = Buffer.concat([line(`${A.toUpperCase()} ${B} refs/heads/main\0`), FLUSH]);
    expect(parsePush(bytes)).to.have.property('commands').with.lengthOf(1);
  });

  it('are refused where they do not end', () => {
    const one = line(`${A} ${B} refs/heads/main`);
    const many = Buffer.concat(Array.from({ length: 20_000 }, () => one));
    expect(() => parsePush(many)).to.throw(PushTooLargeError);
  });

  it('are the same however the bytes come', () => {
    const bytes = Buffer.concat([
      line(`${A} ${B} refs/heads/ä\0report-status`),
      line(`${B} ${A} refs/heads/x`),
      FLUSH,
    ]);
    fc.assert(
      fc.property(fc.nat(bytes.length + 8), (at) => {
        const found = parsePush(Buffer.concat([bytes, PACK]).subarray(0, at));
        if (at < bytes.length) expect(found).to.equal(null);
        else expect(found).to.have.property('commands').with.lengthOf(2);
      }),
    );
  });

  it('never throw anything else, whatever the bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => void parsePush(Buffer.from(bytes))));
  });
});

describe('the report of a refused push', () => {
  const push = (...capabilities: string[]) => ({
    commands: [
      { old: A, new: B, ref: 'refs/heads/main' },
      { old: A, new: B, ref: 'refs/heads/x' },
    ],
    capabilities: new Set(capabilities),
  });
  const inner = '000eunpack ok\n001fng refs/heads/main main no\n0019ng refs/heads/x x no\n0000';
  const reason = (ref: string) => `${ref.slice(11)} no`;

  it('tells each ref its reason, in the band of results where the client has bands', () => {
    expect(refusalReport(push('report-status'), reason)?.toString()).to.equal(inner);
    const banded = refusalReport(push('report-status-v2', 'side-band-64k'), reason)?.toString();
    expect(banded).to.equal(`${(inner.length + 5).toString(16).padStart(4, '0')}\x01${inner}0000`);
  });

  it('is none for a client that asks for none', () => {
    expect(refusalReport(push('side-band-64k'), reason)).to.equal(null);
  });

  it('is cut into packets that git takes', () => {
    const commands = Array.from({ length: 3_000 }, (_, n) => ({ old: A, new: B, ref: `refs/heads/${n}` }));
    const capabilities = new Set(['report-status', 'side-band-64k']);
    const report = refusalReport({ commands, capabilities }, reason) as Buffer;
    const sizes: number[] = [];
    for (let at = 0; at < report.length; ) {
      const size = Number.parseInt(report.toString('latin1', at, at + 4), 16);
      sizes.push(size);
      at += Math.max(size, 4);
    }
    expect(Math.max(...sizes)).to.be.at.most(65_520);
    expect(sizes.at(-1)).to.equal(0);
  });
});
