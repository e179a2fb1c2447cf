import { expect } from 'chai';
import { crashBackoff } from '../../../agent/supervise/lifecycle/crash-backoff.ts';
import { crashText } from '../../../web/src/features/engine-reports/crash-text.ts';

describe('a crash in words', () => {
  it('counts the crashes and bounds the wait for the next start', () => {
    expect(crashText(1)).to.equal('Crashed once, next start within about 1 s.');
    expect(crashText(4)).to.equal('Crashed 4 times, next start within about 8 s.');
  });

  it('never says less than the agent waits', () => {
    for (let restarts = 1; restarts <= 100; restarts += 1) {
      const said = Number(/about (\d+) s/.exec(crashText(restarts))?.[1]);
      expect(said * 1_000, `after ${restarts} crashes`).to.be.at.least(crashBackoff(restarts));
    }
  });

  it('does not count what never started', () => {
    expect(crashText(0)).to.equal('It could not be started; the agent tries again within 60 s.');
  });
});
