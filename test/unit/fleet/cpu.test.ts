import { expect } from 'chai';
import { type CpuSample, nextCpuSample } from '../../../controller/fleet/heartbeats/cpu.ts';

const host = (cpuSecondsTotal: number, cpuSecondsIdle: number) => ({ cpuSecondsTotal, cpuSecondsIdle });
const sample = (more: Partial<CpuSample> = {}): CpuSample => ({
  ...{ at: 0, total: 1_000, idle: 800, percent: null },
  ...more,
});

describe('how busy a host is', () => {
  it('is not known from one report, whatever was counted before', () => {
    expect(nextCpuSample(host(1_000, 800), 0, null)).to.deep.equal(sample());
  });

  it('is the share of the seconds since the report before in which there was something to do', () => {
    expect(nextCpuSample(host(1_020, 815), 5_000, sample())?.percent).to.equal(25);
    expect(nextCpuSample(host(1_020, 820), 5_000, sample())?.percent).to.equal(0);
    expect(nextCpuSample(host(1_020, 800), 5_000, sample())?.percent).to.equal(100);
  });

  it('waits for a second to pass: what was known stays', () => {
    const before = sample({ percent: 40 });
    expect(nextCpuSample(host(1_000.5, 800.1), 999, before)).to.equal(before);
    expect(nextCpuSample(host(1_004, 802), 1_000, before)?.percent).to.equal(50);
  });

  it('begins anew where the counters do', () => {
    expect(nextCpuSample(host(10, 5), 5_000, sample({ percent: 40 }))).to.deep.equal({
      ...{ at: 5_000, total: 10, idle: 5, percent: null },
    });
  });

  it('is never negative: idle seconds are rounded for themselves', () => {
    expect(nextCpuSample(host(1_020, 820.01), 5_000, sample())?.percent).to.equal(0);
  });

  it('is not known of a host that does not tell', () => {
    expect(nextCpuSample({ loadAvg1: 1 }, 5_000, sample({ percent: 40 }))).to.equal(null);
  });
});
