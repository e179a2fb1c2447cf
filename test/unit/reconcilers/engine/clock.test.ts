import { expect } from 'chai';
import fc from 'fast-check';
import { backoff, jitter } from '../../../../reconcilers/loops/backoff.ts';
import { manualClock } from '../../../../reconcilers/loops/clock.ts';

describe('the manual clock', () => {
  it('runs what falls due in order of time, at its time, and nothing that does not', () => {
    const clock = manualClock(0);
    const seen: string[] = [];
    const note = (name: string) => () => void seen.push(`${name} at ${clock.monotonic()}`);
    clock.after(300, note('late'));
    clock.after(100, note('early'));
    clock.after(200, note('middle'));
    clock.advance(250);
    expect(seen).to.deep.equal(['early at 100', 'middle at 200']);
    expect(clock.now()).to.equal(250);
    clock.advance(50);
    expect(seen.at(-1)).to.equal('late at 300');
  });

  it('runs what a task that fell due has put up for the same stretch', () => {
    const clock = manualClock(0);
    let beats = 0;
    const beat = () => {
      beats += 1;
      clock.after(100, beat);
    };
    clock.after(100, beat);
    clock.advance(1_000);
    expect(beats).to.equal(10);
  });

  it('forgets what was cancelled', () => {
    const clock = manualClock();
    const cancel = clock.after(10, () => expect.fail('it was cancelled'));
    cancel();
    clock.advance(100);
  });
});

describe('delays between tries', () => {
  it('double from the first up to the cap and never leave those bounds', () => {
    const delay = backoff({ firstMs: 1_000, capMs: 60_000 });
    expect([1, 2, 3, 6, 7, 8].map(delay)).to.deep.equal([1_000, 2_000, 4_000, 32_000, 60_000, 60_000]);
    fc.assert(
      fc.property(fc.integer({ min: -5, max: 1e9 }), (failures) => {
        expect(delay(failures)).to.be.within(1_000, 60_000);
        expect(delay(failures + 1)).to.be.at.least(delay(failures));
      }),
    );
  });

  it('are spread between half and the whole', () => {
    fc.assert(
      fc.property(fc.nat(1e6), fc.double({ min: 0, max: 1, noNaN: true }), (ms, chance) => {
        expect(jitter(ms, () => chance)).to.be.within(ms / 2, ms);
      }),
    );
  });
});
