import { expect } from 'chai';
import {
  emptyText,
  expectedText,
  openText,
  valueText,
  whatText,
} from '../../../web/src/features/anomalies/anomaly-text.ts';
import { shadesOf } from '../../../web/src/features/metrics/chart-data.ts';

describe('anomalies on the page', () => {
  it('say what is unusual, in the unit of the metric', () => {
    expect(whatText({ metric: 'eventsIn', direction: 'down' })).to.equal('Fewer events in than usual');
    expect(whatText({ metric: 'eventsIn', direction: 'up' })).to.equal('More events in than usual');
    expect(whatText({ metric: 'errors', direction: 'up' })).to.equal('More errors than usual');
    expect(whatText({ metric: 'latency', direction: 'up' })).to.equal('Higher latency than usual');
    expect(valueText('eventsIn', 1_234)).to.equal('1.23 k/s');
    expect(valueText('latency', 12.5)).to.equal('12.5 ms');
    expect(expectedText({ metric: 'errors', expectedLow: 0, expectedHigh: 0.5 })).to.equal('0/s to 0.50/s');
  });

  it('are counted with the worst severity, and an empty list says why it is empty', () => {
    expect(openText(1, 'warning')).to.deep.equal({
      shown: '1 Warning',
      tip: '1 open anomaly, the worst one is warning',
    });
    expect(openText(2, 'critical').tip).to.equal('2 open anomalies, the worst one is critical');
    expect(emptyText(false)).to.match(/^Nothing unusual was seen\. .* every five minutes/);
    expect(emptyText(true)).to.match(/^No anomaly is open\. .* under All\.$/);
  });

  it('are shades in the chart of their metric, until their end or until now, unless they were dismissed', () => {
    const anomaly = (more: object) =>
      ({
        ...{
          metric: 'errors',
          severity: 'critical',
          status: 'open',
          startedAt: new Date(1_000),
          endedAt: null,
        },
        ...more,
      }) as Parameters<typeof shadesOf>[0][number];
    const all = [
      anomaly({}),
      anomaly({ endedAt: new Date(2_000), severity: 'warning', status: 'acknowledged' }),
      anomaly({ status: 'dismissed' }),
      anomaly({ metric: 'latency' }),
    ];
    expect(shadesOf(all, 'errors', 9_000)).to.deep.equal([
      { at: 1_000, to: 9_000, color: '--failed-fill', dashed: true },
      { at: 1_000, to: 2_000, color: '--held-fill', dashed: true },
    ]);
  });
});
