import { expect } from 'chai';
import fc from 'fast-check';
import { shortenAnswer } from '../../../api/mcp/shorten-answer.ts';

const entries = (count: number, size: number) =>
  Array.from({ length: count }, (_, n) => ({ n, text: 'x'.repeat(size) }));

describe('an answer that is too large for a context', () => {
  it('loses the end of its longest list, and says so', () => {
    const { value, cuts, fits } = shortenAnswer(
      { name: 'all', items: entries(100, 100), other: [1, 2] },
      5_000,
    );
    const { items, other } = value as { items: { n: number }[]; other: number[] };
    expect(items.length).to.be.within(30, 45);
    expect(items.map(({ n }) => n)).to.deep.equal(items.map((_, n) => n));
    expect(other).to.deep.equal([1, 2]);
    expect(cuts).to.deep.equal([`items has 100 entries, of which the first ${items.length} are here`]);
    expect(fits).to.equal(true);
  });

  it('is cut inside of an entry where one entry is too large', () => {
    const { value, cuts, fits } = shortenAnswer({ items: [{ lines: entries(50, 100) }, 1] }, 2_000);
    expect((value as { items: unknown[] }).items).to.have.length(2);
    expect(cuts.join()).to.match(/^items\[0\]\.lines has 50 entries, of which the first \d+ are here$/);
    expect(fits).to.equal(true);
  });

  it('is left as it is where it fits, or where there is no list to cut', () => {
    expect(shortenAnswer({ a: [1, 2, 3] }, 100)).to.deep.include({ cuts: [], fits: true });
    expect(shortenAnswer({ text: 'x'.repeat(1_000) }, 100)).to.deep.include({ cuts: [], fits: false });
  });

  it('keeps beginnings of its lists and all that is no list, within the limit where that is possible', () => {
    const isPart = (part: unknown, whole: unknown): boolean => {
      if (Array.isArray(whole))
        return (
          Array.isArray(part) && part.length <= whole.length && part.every((one, n) => isPart(one, whole[n]))
        );
      if (typeof whole !== 'object' || whole === null) return Object.is(part, whole);
      const keys = Object.keys(whole);
      return (
        JSON.stringify(Object.keys(part as object)) === JSON.stringify(keys) &&
        keys.every((key) =>
          isPart((part as Record<string, unknown>)[key], (whole as Record<string, unknown>)[key]),
        )
      );
    };
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 2, max: 400 }), (answer, limit) => {
        const whole = JSON.parse(JSON.stringify(answer));
        const { value, json, cuts, fits } = shortenAnswer(JSON.parse(JSON.stringify(answer)), limit);
        expect(json).to.equal(JSON.stringify(value));
        expect(isPart(value, whole)).to.equal(true);
        expect(fits).to.equal(Buffer.byteLength(json) <= limit);
        if (Buffer.byteLength(JSON.stringify(whole)) <= limit) expect(cuts).to.deep.equal([]);
      }),
    );
  });
});
