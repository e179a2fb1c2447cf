/** The part of a push that comes before its pack. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { PacketsTooLargeError } from '../../../api/git/packet-reader.ts';
import { createPushParser, readPush, renderRejectionReport } from '../../../api/git/receive-pack.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const line = (text: string) => {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
};
const FLUSH = Buffer.from('0000');
const PACK = Buffer.from('PACK\0\0\0\x02');
const parsePush = (bytes: Buffer) => createPushParser().take(bytes);

/** Bytes that `work` joins, copies or decodes. */
async function bytesHandled(work: () => Promise<unknown>): Promise<number> {
  const { concat } = Buffer;
  const { copy, toString: decode } = Buffer.prototype;
  let bytes = 0;
  Buffer.concat = (list: readonly Uint8Array[], length?: number) => {
    const joined = concat(list, length);
    bytes += joined.length;
    return joined;
  };
  Buffer.prototype.copy = function (this: Buffer, ...args: Parameters<Buffer['copy']>) {
    const copied = copy.apply(this, args);
    bytes += copied;
    return copied;
  };
  Buffer.prototype.toString = function (
    this: Buffer,
    encoding?: BufferEncoding,
    start = 0,
    end = this.length,
  ) {
    bytes += end - start;
    return decode.call(this, encoding, start, end);
  };
  try {
    await work();
  } finally {
    Object.assign(Buffer, { concat });
    Object.assign(Buffer.prototype, { copy, toString: decode });
  }
  return bytes;
}

const requestOf = (chunks: Iterable<Buffer>, headers: Record<string, string> = {}) =>
  Object.assign(Readable.from(chunks), { headers }) as unknown as IncomingMessage;

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
    expect(() => parsePush(many)).to.throw(PacketsTooLargeError);
    expect(() => parsePush(Buffer.concat([many, FLUSH])), 'whatever chunks it comes in').to.throw(
      PacketsTooLargeError,
    );
  });

  it('are null until the flush packet has come', () => {
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

  const anyLine = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.string({ unit: 'grapheme', minLength: 1 }).map((name) => `${A} ${B} refs/heads/${name}`),
    },
    fc.constant(`${A} ${B} refs/heads/main\0report-status side-band-64k`),
    fc.constantFrom(`shallow ${A}`, '', 'hello', 'push-cert\0'),
  );
  const anyRequest = fc
    .tuple(
      fc.array(anyLine, { maxLength: 8 }),
      fc.constantFrom(FLUSH, PACK, Buffer.from('000z'), Buffer.alloc(0)),
    )
    .map(([lines, ending]) => Buffer.concat([...lines.map(line), ending, PACK]));

  it('are the same in whatever chunks the bytes come', () => {
    fc.assert(
      fc.property(anyRequest, fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 1 }), (bytes, sizes) => {
        const parser = createPushParser();
        let found: ReturnType<typeof parser.take> = null;
        for (let at = 0, n = 0; at < bytes.length; n += 1) {
          const size = sizes[n % sizes.length] as number;
          found = parser.take(bytes.subarray(at, at + size));
          at += size;
        }
        expect(found).to.deep.equal(parsePush(bytes));
      }),
    );
  });

  it('are read from 10,000 chunks of one byte with work that grows with the bytes and not with their square', async () => {
    const lines = Array.from({ length: 10_000 / 67 }, (_, n) =>
      line(`${A} ${B} refs/heads/b${10_000 + n}`.slice(0, -1)),
    );
    const bytes = Buffer.concat([...lines, FLUSH, PACK]);
    const chunks = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    expect(chunks).to.have.length.within(10_000, 20_000);
    let found: Awaited<ReturnType<typeof readPush>> | undefined;
    const handled = await bytesHandled(async () => {
      found = await readPush(requestOf(chunks));
    });
    expect(found?.push?.commands).to.have.lengthOf(lines.length);
    expect(found?.read.equals(bytes.subarray(0, -PACK.length)), 'what goes to git first').to.equal(true);
    expect(handled).to.be.at.most(8 * bytes.length);
  });

  it('are read from a compressed request, of which no more is taken than they may be long', async () => {
    const bytes = Buffer.concat([line(`${A} ${B} refs/heads/main\0report-status`), FLUSH, PACK]);
    const zipped = gzipSync(bytes);
    const gzip = { 'content-encoding': 'gzip' };
    const chunks = Array.from(zipped, (_, at) => zipped.subarray(at, at + 1));
    const { push, read } = await readPush(requestOf(chunks, gzip));
    expect(push?.commands).to.have.lengthOf(1);
    expect(read.equals(zipped.subarray(0, read.length))).to.equal(true);
    // Blocks that hold nothing, after gzip's header of ten bytes.
    function* nothing(): Generator<Buffer> {
      yield gzipSync('').subarray(0, 10);
      for (;;) yield Buffer.from('\x00\x00\x00\xff\xff'.repeat(10_000), 'latin1');
    }
    const failure = await readPush(requestOf(nothing(), gzip)).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(PacketsTooLargeError);
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
    expect(renderRejectionReport(push('report-status'), reason)?.toString()).to.equal(inner);
    const banded = renderRejectionReport(push('report-status-v2', 'side-band-64k'), reason)?.toString();
    expect(banded).to.equal(`${(inner.length + 5).toString(16).padStart(4, '0')}\x01${inner}0000`);
  });

  it('is none for a client that asks for none', () => {
    expect(renderRejectionReport(push('side-band-64k'), reason)).to.equal(null);
  });

  it('is cut into packets that git takes', () => {
    const commands = Array.from({ length: 3_000 }, (_, n) => ({ old: A, new: B, ref: `refs/heads/${n}` }));
    const capabilities = new Set(['report-status', 'side-band-64k']);
    const report = renderRejectionReport({ commands, capabilities }, reason) as Buffer;
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
