import { expect } from 'chai';
import { emptySeries } from '../../../controller/insight/telemetry/series/empty-series.ts';
import { changeText, formatMoney } from '../../../web/src/features/analytics/cost-text.ts';
import { isEmpty, linesOf, timesOf } from '../../../web/src/features/metrics/chart-data.ts';
import { readRange } from '../../../web/src/features/metrics/chart-range.ts';

const read = (search: string) => readRange(new URLSearchParams(search));

describe('the time of charts by the address', () => {
  it('is the last hour unless the address says another', () => {
    expect(read('')).to.deep.equal({ range: '1h', minutes: 60, end: null, isZoomed: false, compares: false });
    expect(read('range=30d&compare=before')).to.deep.include({ minutes: 43_200, compares: true });
  });

  it('is a part of the past that somebody dragged over, of five minutes at least', () => {
    const zoomed = read('range=6h&from=2026-11-23T09:00:00Z&to=2026-11-23T09:30:00Z');
    expect(zoomed).to.deep.include({ range: '6h', minutes: 30, isZoomed: true });
    expect(zoomed.end?.toISOString()).to.equal('2026-11-23T09:30:00.000Z');
    expect(read('from=2026-11-23T09:00:00Z&to=2026-11-23T09:01:00Z').minutes).to.equal(5);
  });

  it('counts what is wrong in an address as absent', () => {
    for (const search of [
      'range=2h',
      'from=soon&to=later',
      'from=2026-11-23T09:30:00Z&to=2026-11-23T09:00:00Z',
    ])
      expect(read(search), search).to.deep.include({ range: '1h', isZoomed: false });
  });
});

describe('what charts draw', () => {
  const steps = { from: new Date(0), to: new Date(180_000), stepSeconds: 60 };

  it('has each value in the middle of its step', () => {
    expect(timesOf(steps)).to.deep.equal([30_000, 90_000, 150_000]);
  });

  it('is dashed for the period before, and has a band where minutes are known', () => {
    const series = emptySeries('p', { from: 0, to: 180_000, stepSeconds: 60, steps: 3 });
    const lines = [{ name: 'In', of: 'eventsIn', color: '--accent' }] as const;
    const [now, before] = linesOf(lines, { ...series, min: series.mean, max: series.mean }, series);
    expect(now?.low).to.deep.equal([null, null, null]);
    expect(before).to.deep.include({ name: 'In before', dashed: true });
    expect(linesOf(lines, series, null)).to.have.length(1);
  });
});

describe('a time in which nothing was reported', () => {
  const series = emptySeries('p', { from: 0, to: 120_000, stepSeconds: 60, steps: 2 });
  const moved = (of: 'eventsIn' | 'eventsOut') => ({ ...series, mean: { ...series.mean, [of]: [null, 0] } });
  const cases = [
    { reason: 'no series', all: [], empty: true },
    { reason: 'series without values', all: [series, series], empty: true },
    { reason: 'a zero that came in', all: [series, moved('eventsIn')], empty: false },
    { reason: 'a zero that went out', all: [moved('eventsOut')], empty: false },
  ];
  for (const { reason, all, empty } of cases)
    it(`is ${empty ? '' : 'not '}seen in ${reason}`, () => expect(isEmpty(all)).to.equal(empty));
});

describe('volumes and money in text', () => {
  it('compares with the period before, where there is one', () => {
    expect(changeText(112, 100)).to.equal('12 % more than before');
    expect(changeText(75, 100)).to.equal('25 % less than before');
    expect(changeText(100.2, 100)).to.equal('as before');
    expect(changeText(5, 0)).to.equal('');
  });

  it('shows small amounts with four digits and others with two', () => {
    expect(formatMoney(0.0123)).to.equal('0.0123');
    expect(formatMoney(1234.567)).to.equal('1,234.57');
    expect(formatMoney(0)).to.equal('0.00');
  });
});
