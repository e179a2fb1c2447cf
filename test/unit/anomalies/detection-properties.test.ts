/** What must hold for any history. */
import { expect } from 'chai';
import fc from 'fast-check';
import { baselineOf, HOUR_MS } from '../../../controller/insight/anomalies/detection/baseline.ts';
import { isCommon } from '../../../controller/insight/anomalies/detection/common-values.ts';
import { evaluate, expectedAt } from '../../../controller/insight/anomalies/detection/evaluate.ts';

const END = Date.UTC(2026, 0, 12, 12);
const OPTIONS = { sigmaThreshold: 3, minStddevFloorPercent: 5 };
const value = fc.oneof(
  fc.constant(0),
  fc.double({ min: 0, max: 1e9, noNaN: true }),
  fc.double({ min: 0, max: 1, noNaN: true }),
);
const values = (minLength: number, maxLength: number) =>
  fc.array(fc.option(value, { freq: 8 }), { minLength, maxLength });
const history = values(0, 24 * 30);
const minute = fc.integer({ min: 1, max: 59 });

describe('detection of anomalies, for any history,', () => {
  it('has finite numbers and a range that the value is outside of', () => {
    fc.assert(
      fc.property(history, values(0, 24), minute, (hours, steps, past) => {
        const baseline = baselineOf(hours, END, null);
        if (!baseline) return hours.filter((one) => one !== null).length < 24;
        const at = END + past * 60_000;
        for (const metric of ['eventsIn', 'errors', 'latency'] as const) {
          const found = evaluate(metric, baseline, steps, at, OPTIONS);
          if (!found) continue;
          const { expected, sigma } = found;
          expect([expected.low, expected.high, sigma].every(Number.isFinite)).to.equal(true);
          expect(expected.low).to.be.within(0, expected.high);
          if (found.severity !== 'info')
            expect(
              found.direction === 'up' ? found.value >= expected.high : found.value <= expected.low,
            ).to.equal(true);
        }
        return true;
      }),
    );
  });

  it('does not depend on the unit: all values times ten are the same deviation', () => {
    const large = fc.double({ min: 1e5, max: 1e8, noNaN: true });
    fc.assert(
      fc.property(fc.array(large, { minLength: 24, maxLength: 400 }), large, minute, (hours, now, past) => {
        const sigma = (factor: number) => {
          const baseline = baselineOf(
            hours.map((one) => one * factor),
            END,
            null,
          )!;
          const steps = new Array<number>(24).fill(now * factor);
          return evaluate('latency', baseline, steps, END + past * 60_000, OPTIONS)?.sigma ?? 0;
        };
        expect(sigma(10)).to.be.closeTo(sigma(1), 1e-6 * (1 + sigma(1)));
      }),
    );
  });

  it('finds nothing in what is expected', () => {
    fc.assert(
      fc.property(history, minute, fc.double({ min: 0, max: 1, noNaN: true }), (hours, past, between) => {
        const baseline = baselineOf(hours, END, null);
        if (!baseline) return true;
        const at = END + past * 60_000;
        const { low, high } = expectedAt(baseline, at);
        const now = low + (high - low) * between;
        return evaluate('eventsIn', baseline, new Array<number>(24).fill(now), at, OPTIONS) === null;
      }),
    );
  });

  it('is worse the further a value is out', () => {
    fc.assert(
      fc.property(history, value, value, minute, (hours, one, other, past) => {
        const baseline = baselineOf(hours, END, null);
        if (!baseline) return true;
        const [less, more] = one < other ? [one, other] : [other, one];
        const sigma = (now: number) =>
          evaluate('errors', baseline, new Array<number>(24).fill(now), END + past * 60_000, OPTIONS)
            ?.sigma ?? 0;
        return sigma(less) <= sigma(more);
      }),
    );
  });

  it('ignores hours before the window’s first and a single wild hour', () => {
    fc.assert(
      fc.property(fc.double({ min: 10, max: 1e6, noNaN: true }), fc.nat(166), value, (level, place, wild) => {
        const hours = new Array<number>(168).fill(level);
        hours[place] = wild;
        const baseline = baselineOf(hours, END, null)!;
        const { low, high } = expectedAt(baseline, END + HOUR_MS / 2);
        expect(low).to.be.closeTo(level, level * 1e-9);
        expect(high).to.be.closeTo(level, level * 1e-9);
      }),
    );
  });

  it('knows what the same time of several days had', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(value, { minLength: 1, maxLength: 37 }), { minLength: 7, maxLength: 7 }),
        value,
        (days, now) => {
          const withNow = days.map((day) => [...day, ...new Array<number>(day.length + 1).fill(now)]);
          expect(isCommon(withNow, now, 'up')).to.equal(true);
          expect(isCommon(withNow, now, 'down')).to.equal(true);
        },
      ),
    );
  });
});
