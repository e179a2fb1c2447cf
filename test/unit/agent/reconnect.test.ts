/** A fleet that comes back after the controller was away. */
import { expect } from 'chai';
import fc from 'fast-check';
import { reconnectDelay } from '../../../agent/link/push.ts';

const CHANNELS = 1_000;
const OUTAGES = 20;
const BUCKET_MS = 100;

describe('push channels that lost their controller', () => {
  it('wait 1, 2, 4 … 30 s at most and half of that at least, and no two the same, at the cap too', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (failures, random) => {
          const longest = Math.min(30_000, 1_000 * 2 ** Math.min(20, failures - 1));
          expect(reconnectDelay(failures, () => random)).to.be.within(longest / 2, longest);
        },
      ),
    );
    const delays = Array.from({ length: 1_000 }, () => reconnectDelay(50));
    expect(new Set(delays).size).to.be.greaterThan(990);
  });

  for (const [name, hours] of [
    ['a minute', 1 / 60],
    ['six hours', 6],
  ] as const) {
    it(`come back without a wave after ${name}, all within 30 s`, () => {
      const random = numbersFrom(7);
      // A thousand in one bucket of 100 ms are few: the same outage several times over shows the shape and not the noise.
      const returns = Array.from({ length: CHANNELS * OUTAGES }, () => returnOf(hours * 3_600_000, random));
      const buckets = new Array<number>(Math.ceil(Math.max(...returns) / BUCKET_MS)).fill(0);
      for (const ms of returns) {
        const bucket = Math.min(buckets.length - 1, Math.floor(ms / BUCKET_MS));
        buckets[bucket] = (buckets[bucket] ?? 0) + 1;
      }
      expect(Math.max(...returns)).to.be.at.most(30_000);
      expect(Math.max(...buckets) / (returns.length / buckets.length)).to.be.below(3);
    });
  }
});

/** All fail at 0, and each try until `awayMs` fails at once: how long after that the first one comes that succeeds. */
function returnOf(awayMs: number, random: () => number): number {
  let at = 0;
  for (let failures = 1; at < awayMs; failures += 1) at += reconnectDelay(failures, random);
  return at - awayMs;
}

/** The same numbers each time (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
