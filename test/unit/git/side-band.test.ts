/** What of git's answer to a push is understood, and what is added to it. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import fc from 'fast-check';
import { appendToPush } from '../../../api/git/side-band.ts';

const packet = (bytes: Buffer | string) =>
  Buffer.concat([
    Buffer.from((Buffer.byteLength(bytes) + 4).toString(16).padStart(4, '0')),
    Buffer.from(bytes),
  ]);
const band = (number: number, bytes: Buffer | string) =>
  packet(Buffer.concat([Buffer.from([number]), Buffer.from(bytes)]));
const FLUSH = Buffer.from('0000');

async function answer(chunks: Buffer[], line: string) {
  let taken: ReadonlySet<string> | null | undefined;
  const through = appendToPush(async (refs) => {
    taken = refs;
    return [line];
  });
  const bytes = await buffer(Readable.from(chunks).pipe(through));
  return { taken: taken && [...taken], bytes };
}

describe('the answer to a push', () => {
  const report = Buffer.concat([
    packet('unpack ok\n'),
    packet('ok refs/heads/topic\n'),
    packet('option refname refs/heads/other\n'),
    packet('ng refs/heads/main failed to update ref\n'),
    packet('ok refs/tags/ä\n'),
    FLUSH,
  ]);
  const ours = band(2, 'hello\n');

  it('tells which refs were taken, however its report is cut into bands and chunks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(report.length), fc.integer({ min: 1, max: 40 }), async (cut, size) => {
        const bands = [band(1, report.subarray(0, cut)), band(2, 'remark\n'), band(1, report.subarray(cut))];
        const whole = Buffer.concat([...bands, FLUSH]);
        const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, n) =>
          whole.subarray(n * size, (n + 1) * size),
        );
        const { taken, bytes } = await answer(chunks, 'hello');
        expect(taken).to.deep.equal(['refs/heads/topic', 'refs/tags/ä']);
        expect(bytes.equals(Buffer.concat([...bands, ours, FLUSH]))).to.equal(true);
      }),
      { numRuns: 50 },
    );
  });

  it('tells of none where all were refused, and of nothing known where there is no report', async () => {
    const refused = Buffer.concat([packet('unpack ok\n'), packet('ng refs/heads/main no\n'), FLUSH]);
    expect((await answer([Buffer.concat([band(1, refused), FLUSH])], 'x')).taken).to.deep.equal([]);
    expect((await answer([FLUSH], 'x')).taken).to.equal(null);
    expect((await answer([], 'x')).taken).to.equal(null);
  });

  it('is left as it is without bands', async () => {
    expect((await answer([report], 'hello')).bytes.equals(report)).to.equal(true);
  });
});
