import { expect } from 'chai';
import { createByteBudget } from '../../../controller/fleet/logs/byte-budget.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';

const MINUTE_MS = 60_000;

describe('the bytes of log lines that a node may have stored in an hour', () => {
  let perHour: number;
  let clock: ReturnType<typeof manualClock>;
  let budget: ReturnType<typeof createByteBudget>;

  beforeEach(() => {
    perHour = 6_000;
    clock = manualClock();
    budget = createByteBudget(
      () => perHour,
      () => clock.monotonic(),
    );
  });
  const waitOf = (nodeId: string) => budget.refusal(nodeId)?.retryAfterSeconds ?? null;

  it('are counted for each node alone', () => {
    budget.spend('a', 6_000);
    expect(waitOf('a')).to.equal(60);
    expect(waitOf('b')).to.equal(null);
  });

  it('come back steadily: after a wait there is room for a minute’s worth', () => {
    budget.spend('a', 5_999);
    expect(waitOf('a')).to.equal(null);
    budget.spend('a', 1);
    expect(waitOf('a')).to.equal(60);
    clock.advance(MINUTE_MS);
    expect(waitOf('a')).to.equal(null);
    budget.spend('a', 100);
    expect(waitOf('a')).to.equal(60);
  });

  it('make a node wait for longer that had more stored than was left, and never for more than an hour', () => {
    budget.spend('a', 6_500);
    expect(waitOf('a')).to.equal(6 * 60);
    budget.spend('a', 1_000_000);
    expect(waitOf('a')).to.equal(3_600);
  });

  it('are at most twice the limit in the first hour: what is there and what comes back', () => {
    let stored = 0;
    for (let minute = 0; minute < 60; minute += 1) {
      while (waitOf('a') === null) {
        budget.spend('a', 70);
        stored += 70;
      }
      clock.advance(MINUTE_MS);
    }
    // The hour's own, and what came back during it.
    expect(stored).to.be.within(6_000, 2 * 6_000 + 70);
  });

  it('are given back where they were not stored, and never more than were spent', () => {
    budget.spend('a', 6_000);
    budget.refund('a', 3_000);
    expect(waitOf('a')).to.equal(null);
    budget.spend('a', 3_000);
    expect(waitOf('a')).to.equal(60);
    clock.advance(MINUTE_MS);
    budget.refund('a', 6_000);
    budget.spend('a', 6_000);
    expect(waitOf('a')).to.equal(60);
    budget.refund('nobody', 100);
    expect(budget.size()).to.equal(1);
  });

  it('follow the setting at once', () => {
    budget.spend('a', 6_000);
    perHour = 12_000;
    expect(waitOf('a')).to.equal(null);
    perHour = 3_000;
    expect(waitOf('a')).to.be.a('number');
  });

  it('say which refusal is the first of a row', () => {
    budget.spend('a', 6_000);
    expect([budget.refusal('a')?.isFirst, budget.refusal('a')?.isFirst]).to.deep.equal([true, false]);
    clock.advance(2 * MINUTE_MS);
    expect(budget.refusal('a')).to.equal(null);
    budget.spend('a', 6_000);
    expect(budget.refusal('a')?.isFirst).to.equal(true);
  });

  it('are forgotten of nodes that have all of them again', () => {
    for (let n = 0; n < 1_000; n += 1) budget.spend(`node-${n}`, 100);
    expect(budget.size()).to.equal(1_000);
    clock.advance(2 * MINUTE_MS);
    budget.spend('another', 1);
    expect(budget.size()).to.equal(1);
  });
});
