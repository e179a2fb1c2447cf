import { expect } from 'chai';
import { createRate } from '../../../controller/fleet/heartbeats/events-per-second.ts';

describe('how many heartbeats come a second', () => {
  it('is what came in this second or the one before, and nothing after a pause', () => {
    let now = 10_000;
    const rate = createRate(() => now);
    expect(rate.perSecond()).to.equal(0);
    for (let n = 0; n < 150; n += 1) rate.count();
    expect(rate.perSecond()).to.equal(150);
    now += 1_000;
    rate.count();
    expect(rate.perSecond()).to.equal(150);
    now += 1_000;
    expect(rate.perSecond()).to.equal(1);
    now += 5_000;
    expect(rate.perSecond()).to.equal(0);
  });
});
