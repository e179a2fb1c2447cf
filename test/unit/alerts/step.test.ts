/** A subject of an alert rule, value by value: when its event begins, and when it ends. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  type AlertState,
  type Condition,
  clearAfterMs,
  holds,
  NO_STATE,
  step,
  type Value,
} from '../../../controller/insight/alerts/evaluation/step.ts';

const EVERY_MS = 15_000;
const BUSY: Condition = { metric: 'cpu_usage', condition: 'gt', threshold: 90, durationSeconds: 60 };

/** What happens when the values come one evaluation after the other. */
function run(rule: Condition, values: readonly Value[], everyMs = EVERY_MS) {
  let state: AlertState = NO_STATE;
  let times = 0;
  let open = false;
  return values.flatMap((value, index) => {
    const next = step(rule, state, { value, open: open ? times : null, now: index * everyMs });
    state = next.state;
    if (next.transition === 'fire') [open, times] = [true, times + 1];
    else if (next.transition !== null) open = false;
    return next.transition === null ? [] : [`${index} ${next.transition}`];
  });
}
const repeat = (value: Value, count: number) => Array<Value>(count).fill(value);

describe('the state of an alert', () => {
  it('fires once the condition has held for its duration, and once only', () => {
    expect(run(BUSY, repeat(95, 20))).to.deep.equal(['4 fire']);
  });

  it('fires at once where the duration is 0', () => {
    expect(run({ ...BUSY, durationSeconds: 0 }, [91])).to.deep.equal(['0 fire']);
  });

  it('begins to count anew where the condition did not hold for one evaluation', () => {
    expect(run(BUSY, [95, 95, 95, 95, 80, 95, 95, 95, 95, 95])).to.deep.equal(['9 fire']);
  });

  it('ends after 30 s without the condition', () => {
    expect(run(BUSY, [...repeat(95, 5), 80, 80, 80])).to.deep.equal(['4 fire', '7 resolve']);
    expect(run(BUSY, [...repeat(95, 5), 80, 80, 95, 80, 80])).to.deep.equal(['4 fire']);
  });

  it('takes longer to end each time that it fired again, up to 15 minutes', () => {
    expect([1, 2, 3, 5, 6, 7, 50].map((times) => clearAfterMs(times) / 1_000)).to.deep.equal([
      ...[30, 60, 120, 480, 900, 900, 900],
    ]);
    const flapping = Array.from({ length: 480 }, (_, index) => (index % 8 < 5 ? 95 : 80));
    const damped = run({ ...BUSY, durationSeconds: 15 }, flapping).length;
    // Without damping it would fire and end 60 times each.
    expect(damped).to.equal(3);
  });

  it('ends after three evaluations without a value, and keeps waiting for fewer', () => {
    expect(run(BUSY, [...repeat(95, 5), null, null, 95, null, null, null])).to.deep.equal([
      '4 fire',
      '10 resolve: no data',
    ]);
    expect(run(BUSY, [95, 95, null, null, 95])).to.deep.equal(['4 fire']);
  });

  it('of a silent node stays without a value', () => {
    const silent: Condition = {
      metric: 'node_unreachable',
      condition: 'eq',
      threshold: 1,
      durationSeconds: 0,
    };
    expect(run(silent, [1, ...repeat(null, 50)])).to.deep.equal(['0 fire']);
  });

  it('stays as it is while it is too early to know', () => {
    expect(run(BUSY, [...repeat(95, 5), ...repeat('unknown', 50)])).to.deep.equal(['4 fire']);
    expect(run(BUSY, [95, ...repeat('unknown', 3), 95])).to.deep.equal(['4 fire']);
  });

  it('compares as the rule says', () => {
    const of = (condition: 'gt' | 'lt' | 'eq') =>
      [89, 90, 91].filter((value) => holds({ condition, threshold: 90 }, value));
    expect([of('gt'), of('lt'), of('eq')]).to.deep.equal([[91], [89], [90]]);
  });

  it('alternates: nothing ends that did not fire, and an end needs as long a rest as it says', () => {
    const values = fc.array(fc.oneof(fc.constantFrom<Value>(95, 80, null, 'unknown')), { maxLength: 120 });
    fc.assert(
      fc.property(values, fc.integer({ min: 0, max: 120 }), (list, durationSeconds) => {
        const events = run({ ...BUSY, durationSeconds }, list);
        events.forEach((event, index) => {
          expect(event.includes('fire'), events.join()).to.equal(index % 2 === 0);
          const at = Number(event.split(' ')[0]);
          if (!event.endsWith('fire')) return;
          // Since the condition last did not hold, the duration has passed.
          const since = list.slice(0, at).lastIndexOf(80) + 1;
          expect(at - since).to.be.at.least(Math.floor((durationSeconds * 1_000) / EVERY_MS));
        });
      }),
    );
  });
});
