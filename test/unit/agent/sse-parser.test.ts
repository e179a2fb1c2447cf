import { expect } from 'chai';
import fc from 'fast-check';
import { type SseMessage, SseOverflow, SseParser } from '../../../agent/link/sse-parser.ts';

const LIMIT = 256 * 1024;

function parse(chunks: Uint8Array[], limit = LIMIT): SseMessage[] {
  const messages: SseMessage[] = [];
  const parser = new SseParser(limit, (message) => messages.push(message));
  for (const chunk of chunks) parser.push(chunk);
  return messages;
}

const bytes = (text: string) => new TextEncoder().encode(text);

describe('server-sent events', () => {
  it('reads events, comments, unknown fields and data over several lines', () => {
    const text =
      ': hello\n\nevent: a\nid: 1\nretry: 5\ndata: one\ndata:two\ndata\n\ndata:  x\n\nevent: empty\n\n';
    expect(parse([bytes(text)])).to.deep.equal([
      { event: 'a', data: 'one\ntwo\n' },
      { event: 'message', data: ' x' },
    ]);
  });

  it('reads the same messages however the bytes are cut, with any line ending and a byte order mark', () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, ''));
    const message = fc.record({
      event: line.filter((text) => text !== ''),
      data: fc.array(line, { minLength: 1 }),
    });
    fc.assert(
      fc.property(
        fc.array(message),
        fc.constantFrom('\n', '\r', '\r\n'),
        fc.boolean(),
        fc.array(fc.nat({ max: 400 })),
        (messages, ending, mark, cuts) => {
          const text = messages.map(({ event, data }) =>
            [`event: ${event}`, ...data.map((part) => `data: ${part}`), '', ''].join(ending),
          );
          const all = bytes((mark ? '\uFEFF' : '') + text.join(''));
          const at = [...new Set(cuts)].sort((a, b) => a - b).filter((cut) => cut < all.length);
          const chunks = [0, ...at].map((start, index) => all.slice(start, at[index]));
          const wanted = messages.map(({ event, data }) => ({ event, data: data.join('\n') }));
          expect(parse(chunks)).to.deep.equal(wanted);
        },
      ),
    );
  });

  it('takes a message just under the limit and breaks at the limit', () => {
    const message = (size: number) => bytes(`data: ${'x'.repeat(size)}\n\n`);
    expect(parse([message(LIMIT - 1)])[0]?.data).to.have.length(LIMIT - 1);
    for (const size of [LIMIT, LIMIT + 1, 1024 * 1024])
      expect(() => parse([message(size)])).to.throw(SseOverflow);
  });

  it('breaks on a line without an end and on many lines of one message', () => {
    const piece = bytes('x'.repeat(1024));
    expect(() => parse(Array.from({ length: 300 }, () => piece))).to.throw(SseOverflow);
    const line = bytes(`data: ${'x'.repeat(1000)}\n`);
    expect(() => parse(Array.from({ length: 300 }, () => line))).to.throw(SseOverflow);
  });
});
