/** Rates of the last minute of counters. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createCounterWindows } from '../../../controller/insight/alerts/evaluation/counter-windows.ts';

describe('rates of the last minute', () => {
  /** The rate of errors after readings of [seconds, counter]. */
  const rateAfter = (
    readings: readonly (readonly [number, number])[],
    nowSeconds = readings.at(-1)?.[0] ?? 0,
  ) => {
    const windows = createCounterWindows();
    for (const [second, errors] of readings)
      windows.observe(
        'e',
        [{ pipelineId: 'p', nodeId: 'n', at: second * 1_000, values: [errors, 0, 0] }],
        second * 1_000,
      );
    return windows.rateOnNode('e', 'p', 'n', 'errors', nowSeconds * 1_000);
  };

  it('are what grew in the last minute, whatever came before', () => {
    expect(
      rateAfter([
        [0, 0],
        [15, 900],
        [30, 900],
        [45, 900],
        [60, 900],
        [75, 960],
      ]),
    ).to.equal(1);
    expect(
      rateAfter([
        [0, 0],
        [60, 600],
        [120, 660],
      ]),
    ).to.equal(1);
  });

  it('take a counter that fell for one of a new process', () => {
    expect(
      rateAfter([
        [0, 1_000],
        [30, 1_030],
        [60, 30],
      ]),
    ).to.equal(1);
  });

  it('are not known from one reading, from 10 seconds, or from what is older than two and a half minutes', () => {
    expect(rateAfter([[0, 5]])).to.equal(null);
    expect(
      rateAfter([
        [0, 5],
        [9, 50],
      ]),
    ).to.equal(null);
    expect(
      rateAfter(
        [
          [0, 0],
          [60, 60],
        ],
        60 + 151,
      ),
    ).to.equal(null);
  });

  it('begin again where the clock of the node is set back', () => {
    expect(
      rateAfter([
        [1_000, 0],
        [1_060, 60],
        [10, 60],
        [70, 180],
      ]),
    ).to.equal(2);
  });

  it('are forgotten with what is not reported any more', () => {
    const windows = createCounterWindows();
    const at = (second: number, nodeId: string) => ({
      pipelineId: 'p',
      nodeId,
      at: second * 1_000,
      values: [second, 0, 0],
    });
    windows.observe('e', [at(0, 'a'), at(0, 'b')], 0);
    windows.observe('e', [at(60, 'a')], 60_000);
    windows.observe('e', [at(120, 'a'), at(120, 'b')], 120_000);
    expect(windows.rateOnNode('e', 'p', 'a', 'errors', 120_000)).to.equal(1);
    expect(windows.rateOnNode('e', 'p', 'b', 'errors', 120_000)).to.equal(null);
  });

  it('equal the growth that a plain sum over the window gives, with resets', () => {
    const steps = fc.array(fc.record({ grows: fc.integer({ min: 0, max: 100 }), resets: fc.boolean() }), {
      minLength: 6,
      maxLength: 40,
    });
    fc.assert(
      fc.property(steps, (list) => {
        let counter = 0;
        const growth: number[] = [];
        const readings = list.map(({ grows, resets }, index): [number, number] => {
          counter = resets ? grows : counter + grows;
          growth.push(grows);
          return [index * 15, counter];
        });
        const expected = growth.slice(-4).reduce((sum, one) => sum + one, 0) / 60;
        // A new process that has counted as much as the one before cannot be told from it.
        fc.pre(
          readings.every(
            ([, value], index) =>
              index === 0 || !list[index]?.resets || value < (readings[index - 1]?.[1] ?? 0),
          ),
        );
        expect(rateAfter(readings)).to.be.closeTo(expected, 1e-9);
      }),
    );
  });
});
