import { expect } from 'chai';
import fc from 'fast-check';
import {
  broadenTouches,
  rollbackTouches,
  rolloutBadge,
  stagesOf,
  windowOf,
} from '../../../web/src/features/pipeline/rollout/rollout-text.ts';

const reached = (total: number, onVersion = 0, more = {}) => ({
  total,
  onVersion,
  unreachable: 0,
  crashed: 0,
  ...more,
});
const START = new Date('2026-01-01T00:00:00Z');
const WINDOW = {
  healthStartedAt: START,
  healthEndsAt: new Date(START.getTime() + 600_000),
  healthCheckWindowMinutes: 10,
};
const at = (seconds: number): number => START.getTime() + seconds * 1_000;
const ROLLOUT = {
  ...WINDOW,
  status: 'HEALTH_CHECK' as const,
  heldReason: null,
  onPass: 'broaden' as const,
  canary: reached(2, 2),
  control: reached(9, 9),
  canaryVersion: 4,
  previousVersion: 3,
};

describe('the window of a rollout', () => {
  it('tells what is over and what is left', () => {
    expect(windowOf(WINDOW, at(150))).to.deep.equal({ share: 0.25, words: '7 min 30 s left of 10 min' });
  });

  it('waits for the canary before it begins', () => {
    const before = { ...WINDOW, healthStartedAt: null, healthEndsAt: null };
    expect(windowOf(before, at(0))).to.deep.equal({ share: 0, words: '10 min once the canary runs it' });
  });

  it('is over once it is, also where nobody has decided', () => {
    expect(windowOf(WINDOW, at(1_000))).to.deep.equal({ share: 1, words: '10 min are over' });
  });

  it('never leaves the bar, whatever the clocks say', () => {
    fc.assert(
      fc.property(
        fc.record({ from: fc.integer(), length: fc.integer(), now: fc.integer() }),
        ({ from, length, now }) => {
          const { share } = windowOf(
            {
              healthStartedAt: new Date(from),
              healthEndsAt: new Date(from + length),
              healthCheckWindowMinutes: 1,
            },
            now,
          );
          expect(share).to.be.within(0, 1);
        },
      ),
    );
  });
});

describe('the stages of a rollout', () => {
  it('begin with the canary, and say what is in its way', () => {
    const [canary, watching, all] = stagesOf(
      {
        ...ROLLOUT,
        status: 'CANARY_DEPLOYED',
        canary: reached(3, 1, { crashed: 1, unreachable: 1 }),
        healthStartedAt: null,
        healthEndsAt: null,
      },
      at(0),
    );
    expect(canary).to.include({ tone: 'failed', words: '1 of 3 nodes runs it, 1 crashed, 1 not heard' });
    expect(watching?.tone).to.equal('unknown');
    expect(all?.words).to.equal('9 more nodes, if it stays healthy');
  });

  it('go on to the window, which is held where a person decides', () => {
    expect(stagesOf(ROLLOUT, at(60)).map(({ tone }) => tone)).to.deep.equal(['ok', 'moving', 'unknown']);
    const held = { ...ROLLOUT, heldReason: 'too few events', onPass: 'hold' as const };
    expect(stagesOf(held, at(60))[1]?.tone).to.equal('held');
    expect(stagesOf(held, at(60))[2]?.words).to.equal('9 more nodes, when somebody says so');
    expect(rolloutBadge(held).word).to.equal('Waits for a decision');
  });
});

describe('what ends a rollout', () => {
  it('says how many processes restart, and on how many nodes', () => {
    expect(broadenTouches(ROLLOUT)).to.equal(
      'This restarts 9 processes on 9 nodes: they go from version 3 to version 4.',
    );
    expect(rollbackTouches(ROLLOUT)).to.equal(
      'This restarts 2 processes on 2 nodes: they go from version 4 back to version 3.',
    );
  });

  it('starts and stops instead where nothing was deployed before', () => {
    const first = { ...ROLLOUT, previousVersion: null };
    expect(broadenTouches(first)).to.equal(
      'This starts 9 processes on 9 nodes: they ran nothing of it so far.',
    );
    expect(rollbackTouches(first)).to.equal('This stops 2 processes on 2 nodes: nothing ran there before.');
  });

  it('leaves those that are not heard for later', () => {
    expect(broadenTouches({ ...ROLLOUT, control: reached(9, 7, { unreachable: 2 }) })).to.equal(
      'This restarts 7 processes on 7 nodes: they go from version 3 to version 4. 2 more nodes are not heard now and follow when they come back.',
    );
  });
});
