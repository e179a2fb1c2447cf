import { expect } from 'chai';
import { type Batch, logBatch } from '../../../examples/engine/event.ts';
import { EventBatcher } from '../../../examples/engine/sinks/event-batcher.ts';
import { RetryDelays, type Verdict, verdictOf } from '../../../examples/engine/sinks/retry-policy.ts';

const batchOf = (count: number, size = 1): Batch =>
  logBatch(Array.from({ length: count }, (_unused, n) => ({ n, x: 'x'.repeat(size) })));

describe('the batches of the http sink', () => {
  it('close at the number of events, in order', () => {
    const batcher = new EventBatcher({ maxEvents: 3, maxBytes: 1e6 });
    batcher.add(batchOf(7));
    const numbers = () =>
      batcher.take(false)?.parts.flatMap((part) => part.events.map((event) => ('n' in event ? event.n : -1)));
    expect([numbers(), numbers(), numbers()]).to.deep.equal([[0, 1, 2], [3, 4, 5], undefined]);
    expect(batcher.events).to.equal(1);
    expect(batcher.take(true)?.events).to.equal(1);
    expect(batcher.take(true)).to.equal(undefined);
  });

  it('close before they grow over the number of bytes', () => {
    const [single] = [batchOf(1, 100).bytes];
    const batcher = new EventBatcher({ maxEvents: 1e6, maxBytes: single * 2 + 1 });
    for (let n = 0; n < 5; n += 1) batcher.add(batchOf(1, 100));
    expect([batcher.take(false)?.events, batcher.take(false)?.events]).to.deep.equal([2, 2]);
    expect(batcher.hasFull).to.equal(false);
  });

  it('let one event that is too large go by itself', () => {
    const batcher = new EventBatcher({ maxEvents: 1e6, maxBytes: 100 });
    batcher.add(logBatch([{ a: 1 }, { big: 'x'.repeat(1000) }, { a: 2 }]));
    expect([1, 2].map(() => batcher.take(false)?.events)).to.deep.equal([1, 1]);
    expect(batcher.events).to.equal(1);
  });
});

describe('the tries of the http sink', () => {
  it('wait longer and longer, up to a limit', () => {
    const delays = new RetryDelays({ attempts: 8, initialMs: 1000, maxMs: 10_000, jitter: false });
    const waits = Array.from({ length: 9 }, () => delays.next());
    expect(waits).to.deep.equal([1000, 2000, 3000, 5000, 8000, 10_000, 10_000, 10_000, undefined]);
  });

  it('wait a random part of that with jitter, and never nothing', () => {
    const options = { attempts: 3, initialMs: 1000, maxMs: 10_000, jitter: true };
    const low = new RetryDelays(options, () => 0);
    const high = new RetryDelays(options, () => 0.9999);
    expect([low.next(), low.next(), high.next(), high.next()]).to.deep.equal([1, 1, 1000, 2000]);
  });

  const cases: [number, Verdict][] = [
    [200, 'delivered'],
    [204, 'delivered'],
    [302, 'drop'],
    [400, 'drop'],
    [401, 'drop'],
    [408, 'retry'],
    [429, 'retry'],
    [500, 'retry'],
    [501, 'drop'],
    [503, 'retry'],
  ];
  for (const [status, verdict] of cases) {
    it(`take ${status} as ${verdict}`, () => expect(verdictOf(status)).to.equal(verdict));
  }
});
