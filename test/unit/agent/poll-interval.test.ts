import { expect } from 'chai';
import { createLogger } from '../../../agent/log.ts';
import { PollInterval } from '../../../agent/poll-interval.ts';

describe('the poll interval of an agent', () => {
  let lines: string[];
  let interval: PollInterval;
  beforeEach(() => {
    lines = [];
    interval = new PollInterval(
      5_000,
      createLogger('info', (line) => lines.push(line)),
    );
  });

  it('is its own setting until the controller sends another', () => {
    expect(interval.set(undefined)).to.equal(false);
    expect(interval.ms).to.equal(5_000);
    expect(interval.set(3_600_000)).to.equal(true);
    expect(interval.ms).to.equal(3_600_000);
    expect(interval.set(undefined)).to.equal(false);
    expect(interval.ms).to.equal(3_600_000);
  });

  it('is at least half a second', () => {
    expect(interval.set(1)).to.equal(true);
    expect(interval.ms).to.equal(500);
  });

  it('ignores a value over an hour, and says so once', () => {
    for (let n = 0; n < 5; n += 1) expect(interval.set(3_600_001)).to.equal(false);
    expect(interval.ms).to.equal(5_000);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/level=warn .*poll interval .*ignored.* ms=3600001 /);
  });

  it('ignores zero and negative values', () => {
    for (const ms of [0, -1]) expect(interval.set(ms)).to.equal(false);
    expect(interval.ms).to.equal(5_000);
  });
});
