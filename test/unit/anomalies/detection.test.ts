import { expect } from 'chai';
import { baselineOf, HOUR_MS } from '../../../controller/insight/anomalies/detection/baseline.ts';
import { isCommon } from '../../../controller/insight/anomalies/detection/common-values.ts';
import { withoutGrace } from '../../../controller/insight/anomalies/detection/deploy-grace.ts';
import {
  type DetectionOptions,
  evaluate,
  severityOf,
} from '../../../controller/insight/anomalies/detection/evaluate.ts';
import type { AnomalyMetric } from '../../../schemas/api/insight/anomalies.ts';
import { randomOf } from '../../support/fixtures/anomaly-series.ts';

/** A Monday, 12:00 UTC. */
const END = Date.UTC(2026, 0, 12, 12);
const DAYS = (count: number) => count * 24;
const OPTIONS: DetectionOptions = { sigmaThreshold: 3, minStddevFloorPercent: 5 };

/** Values of the hours before `END`, by the hour since 1970; a few percent of noise. */
function hoursOf(count: number, value: (hour: number, ago: number) => number | null, noise = 0.02) {
  const random = randomOf(1);
  return Array.from({ length: count }, (_, index) => {
    const one = value(END / HOUR_MS - count + index, count - index);
    return one === null ? null : one * (1 + noise * (2 * random() - 1));
  });
}
const steady = (value: number, steps = 24) => new Array<number>(steps).fill(value);
const found = (
  hours: readonly (number | null)[],
  steps: readonly (number | null)[],
  {
    metric = 'eventsIn',
    deployedAt = null,
    at = END + 40 * 60_000,
    ...options
  }: Partial<DetectionOptions> & {
    metric?: AnomalyMetric;
    deployedAt?: number | null;
    at?: number;
  } = {},
) => {
  const baseline = baselineOf(hours, END, deployedAt);
  return baseline && evaluate(metric, baseline, steps, at, { ...OPTIONS, ...options });
};

describe('a baseline', () => {
  it('needs 24 hours with values', () => {
    const hours = (count: number) => hoursOf(DAYS(7), (_, ago) => (ago <= count ? 100 : null));
    expect(baselineOf(hours(23), END, null)).to.equal(null);
    expect(baselineOf(hours(24), END, null)).to.include({ points: 24, season: 'none' });
  });

  it('takes a season that explains the past: of the day, and of the week once there are three', () => {
    const ofDay = (hour: number) => (hour % 24 < 8 ? 10 : 100);
    const ofWeek = (hour: number) => ((hour + 72) % 168 >= 120 ? 0.3 : 1) * ofDay(hour);
    const season = (days: number, value: (hour: number) => number) =>
      baselineOf(hoursOf(DAYS(days), value), END, null)?.season;
    expect(season(7, () => 100)).to.equal('none');
    expect(season(7, ofDay)).to.equal('day');
    expect(season(14, ofWeek)).to.equal('day');
    expect(season(28, ofWeek)).to.equal('week');
  });

  it('is of the hour: what is usual at noon is unusual at night', () => {
    const day = hoursOf(DAYS(7), (hour) => (hour % 24 < 8 ? 10 : 100));
    const night = day.slice(0, -10);
    const atNight = baselineOf(night, END - 10 * HOUR_MS, null)!;
    const at = END - 10 * HOUR_MS + 40 * 60_000;
    expect(found(day, steady(100))).to.equal(null);
    expect(evaluate('eventsIn', atNight, steady(100), at, OPTIONS)).to.include({ direction: 'up' });
    expect(evaluate('eventsIn', atNight, steady(10), at, OPTIONS)).to.equal(null);
  });

  it('follows growth', () => {
    const grown = hoursOf(DAYS(7), (_, ago) => 100 * (1 - (0.04 * ago) / 24));
    expect(found(grown, steady(101))).to.equal(null);
    expect(found(grown, steady(50))).to.include({ direction: 'down' });
  });

  it('takes a level that has lasted for half a day as usual, and the one before as well', () => {
    const shifted = (hours: number) => hoursOf(DAYS(7), (_, ago) => (ago <= hours ? 300 : 100));
    expect(found(shifted(3), steady(300))).to.include({ severity: 'critical', direction: 'up' });
    expect(found(shifted(13), steady(300))).to.equal(null);
    expect(found(shifted(13), steady(100))).to.equal(null);
    expect(found(shifted(13), steady(30))).to.include({ direction: 'down' });
  });

  it('takes the level since a deploy as usual after six hours', () => {
    const hours = hoursOf(DAYS(7), (_, ago) => (ago <= 7 ? 300 : 100));
    expect(found(hours, steady(300))).to.include({ direction: 'up' });
    expect(found(hours, steady(300), { deployedAt: END - 7.5 * HOUR_MS })).to.equal(null);
  });
});

describe('a value', () => {
  const hours = hoursOf(DAYS(7), () => 100);

  it('is unusual beyond the threshold, and worse one deviation further', () => {
    expect(severityOf(2.49, 3)).to.equal(null);
    expect(severityOf(2.5, 3)).to.equal('info');
    expect(severityOf(3, 3)).to.equal('warning');
    expect(severityOf(4, 3)).to.equal('critical');
    // The floor of 5 % is one deviation here.
    expect(found(hours, steady(110))).to.equal(null);
    expect(found(hours, steady(114))).to.include({ severity: 'info', direction: 'up' });
    expect(found(hours, steady(117))).to.include({ severity: 'warning' });
    expect(found(hours, steady(130))).to.include({ severity: 'critical', value: 130 });
    expect(found(hours, steady(70))).to.include({ severity: 'critical', direction: 'down' });
  });

  it('comes with the range in which it would be usual', () => {
    const { expected } = found(hours, steady(200))!;
    expect(expected.low).to.be.within(80, 88);
    expect(expected.high).to.be.within(112, 120);
    const { expected: wide } = found(hours, steady(300), { minStddevFloorPercent: 40 })!;
    expect(wide.low).to.equal(0);
  });

  it('counts the third time in a row, and at once where it is far out', () => {
    expect(found(hours, [...steady(100, 23), 118])).to.equal(null);
    expect(found(hours, [...steady(100, 22), 118, 118])).to.equal(null);
    expect(found(hours, [...steady(100, 21), 118, 118, 118])).to.include({ severity: 'warning' });
    expect(found(hours, [...steady(100, 23), 200])).to.include({ severity: 'critical' });
  });

  it('may vary as it did in the last two hours', () => {
    const restless = Array.from({ length: 24 }, (_, step) => (step % 5 < 2 ? 70 : 130));
    expect(found(hours, restless)).to.equal(null);
  });

  it('is unusual upwards only for errors and latency', () => {
    expect(found(hours, steady(10), { metric: 'errors' })).to.equal(null);
    expect(found(hours, steady(10), { metric: 'latency' })).to.equal(null);
    expect(found(hours, steady(400), { metric: 'errors' })).to.include({ metric: 'errors', direction: 'up' });
    expect(found(hours, steady(400), { metric: 'latency' })).to.include({ metric: 'latency' });
  });

  it('is no drop where nodes were stopped on purpose', () => {
    expect(found(hours, steady(10), { ignoresDrops: true })).to.equal(null);
    expect(found(hours, steady(400), { ignoresDrops: true })).to.include({ direction: 'up' });
  });

  it('of nothing reported is no zero, and zero is one', () => {
    expect(found(hours, [...steady(100, 23), null])).to.equal(null);
    expect(found(hours, [...steady(100, 22), 0, 0])).to.include({ value: 0, direction: 'down' });
  });

  it('of a few events is chance: errors that come one by one do not alarm', () => {
    const none = hoursOf(DAYS(7), () => 0);
    expect(found(none, steady(5 / 300), { metric: 'errors' })).to.equal(null);
    expect(found(none, steady(60 / 300), { metric: 'errors' })).to.include({ severity: 'critical' });
    expect(found(none, steady(1), { metric: 'latency' })).to.equal(null);
  });
});

describe('a value that was seen before', () => {
  const day = (value: number, some: Record<number, number> = {}) =>
    Array.from({ length: 37 }, (_, step) => some[step] ?? value);

  it('is common where a part of the steps of several days reached it', () => {
    const burst = day(0, { 3: 100, 4: 95, 15: 100, 27: 105 });
    expect(isCommon([burst, burst, burst], 110, 'up')).to.equal(true);
    expect(isCommon([burst, day(0), day(0)], 110, 'up')).to.equal(false);
    expect(isCommon([burst, burst, burst], 300, 'up')).to.equal(false);
  });

  it('is common where it was the same a week ago, and not because the weekend was quiet', () => {
    const week = (weekAgo: number) => [day(40), day(40), ...new Array(4).fill(day(100)), day(weekAgo)];
    expect(isCommon(week(40), 40, 'down')).to.equal(true);
    expect(isCommon(week(100), 40, 'down')).to.equal(false);
  });

  it('is not common where nothing is known of before', () => {
    expect(isCommon([], 1, 'up')).to.equal(false);
    expect(isCommon([[], day(0).map(() => null)], 0, 'down')).to.equal(false);
  });
});

describe('a deploy', () => {
  it('leaves out the steps of its fifteen minutes', () => {
    const steps = [1, 2, 3, 4, 5, 6];
    const left = (minute: number, step = 5) => withoutGrace(steps, 0, step * 60_000, [minute * 60_000]);
    expect(left(5)).to.deep.equal([1, null, null, null, 5, 6]);
    expect(left(7)).to.deep.equal([1, null, null, null, null, 6]);
    expect(left(-20)).to.deep.equal(steps);
    expect(left(-10)).to.deep.equal([null, 2, 3, 4, 5, 6]);
    expect(left(28)).to.deep.equal([1, 2, 3, 4, 5, null]);
    expect(left(50, 60)).to.deep.equal([null, null, 3, 4, 5, 6]);
  });
});
