import { expect } from 'chai';
import type { AlertEvent, AlertEventChange } from '../../../../schemas/api/insight/alerts.ts';
import {
  changeLine,
  chartRange,
  firedBefore,
  groupOpen,
  lastedText,
  matchersOf,
  muteReason,
  valueText,
} from '../../../../web/src/features/alerts/events/event-text.ts';

const AT = Date.parse('2026-11-28T09:00:00Z');
const MINUTE = 60_000;
const event = (change: Partial<AlertEvent> = {}): AlertEvent => ({
  ...{ id: 'e', environmentId: 'env', ruleId: 'r', ruleName: 'Busy CPU', metric: 'cpu_usage' },
  ...{ condition: 'gt', threshold: 90, durationSeconds: 60, nodeId: 'n', nodeName: 'edge-1' },
  ...{ pipelineId: null, pipelineName: null, status: 'firing', message: 'CPU usage of edge-1 is 95 %' },
  ...{ value: 95.123, peak: 99, times: 1, firedAt: new Date(AT), openedAt: new Date(AT), resolvedAt: null },
  ...{ resolvedReason: null, acknowledgedAt: null, acknowledgedBy: null, mutedBy: null },
  ...change,
});
const change = (more: Partial<AlertEventChange>): AlertEventChange => ({
  ...{ id: '1', at: new Date(AT), kind: 'fired', value: null, note: null, userEmail: null },
  ...more,
});

describe('an alert in words', () => {
  it('shows its value against the threshold, with units', () => {
    expect(valueText(event())).to.equal('95.12 %, above 90 %');
    expect(valueText(event({ metric: 'error_rate', value: 30, threshold: 0.25 }))).to.equal(
      '30/s, above 0.25/s',
    );
    expect(valueText(event({ value: null }))).to.equal('no value, above 90 %');
    expect(valueText(event({ metric: 'node_unreachable' }))).to.equal('');
  });

  it('stands with those in its state: firing, acknowledged, then muted whatever else', () => {
    const events = [
      event({ id: 'muted', mutedBy: 'maintenance', status: 'acknowledged' }),
      event({ id: 'seen', status: 'acknowledged' }),
      event({ id: 'new' }),
    ];
    expect(
      groupOpen(events).map(({ state, events: of }) => [state, ...of.map(({ id }) => id)]),
    ).to.deep.equal([
      ['firing', 'new'],
      ['acknowledged', 'seen'],
      ['muted', 'muted'],
    ]);
    expect(groupOpen([])).to.deep.equal([]);
  });

  it('lasts until it is resolved', () => {
    expect(lastedText(event(), AT + 90 * MINUTE)).to.equal('1 h 30 min');
    expect(lastedText(event({ resolvedAt: new Date(AT + 5 * MINUTE) }), AT + 90 * MINUTE)).to.equal('5 min');
  });

  it('is muted by maintenance, or by a silence with its reason', () => {
    expect(muteReason('maintenance', [])).to.deep.equal({
      text: 'the node is in maintenance',
      silenceId: null,
    });
    expect(muteReason('s', [{ id: 's', reason: 'A move' }])).to.deep.equal({
      text: 'A move',
      silenceId: 's',
    });
    expect(muteReason('gone', []).text).to.equal('a silence');
  });

  it('has a line for each change, with who, why and how long', () => {
    const silences = [{ id: 'S1', reason: 'A move' }];
    const line = (more: Partial<AlertEventChange>, since: Date | null = null) => {
      const { title, detail } = changeLine(change(more), event(), { since, silences });
      return `${title} ${detail}`.trim();
    };
    expect(line({ value: 95 })).to.equal('Fired at 95 %');
    expect(line({ kind: 'fired_again', value: 96 })).to.equal('Fired again at 96 %');
    expect(line({ kind: 'acknowledged', userEmail: 'ada@example.org', note: 'mine' })).to.equal(
      'Acknowledged by ada@example.org: mine',
    );
    expect(line({ kind: 'muted', note: 'S1' })).to.equal('Muted by a silence: A move');
    expect(line({ kind: 'muted', note: 'the node is in maintenance' })).to.equal(
      'Muted as the node is in maintenance',
    );
    expect(line({ kind: 'unmuted' })).to.equal('No longer muted');
    const since = new Date(AT - 12 * MINUTE);
    expect(line({ kind: 'resolved', value: 10 }, since)).to.equal('Resolved after 12 min: at 10 %');
    expect(line({ kind: 'resolved', note: 'no data' }, since)).to.equal('Resolved after 12 min: no data');
  });

  it('counts how long it lasted from the firing before', () => {
    const changes = [
      change({ at: new Date(1) }),
      change({ kind: 'resolved', at: new Date(2) }),
      change({ kind: 'fired_again', at: new Date(3) }),
      change({ kind: 'resolved', at: new Date(4) }),
    ];
    expect(firedBefore(changes, 1)?.getTime()).to.equal(1);
    expect(firedBefore(changes, 3)?.getTime()).to.equal(3);
    expect(firedBefore(changes, 0)).to.equal(null);
  });

  it('leads to charts of its time, a day at most', () => {
    const minutes = (resolved: number | null, now: number) => {
      const resolvedAt = resolved === null ? null : new Date(AT + resolved * MINUTE);
      const { from, to } = chartRange(event({ resolvedAt }), AT + now * MINUTE);
      return [Date.parse(from), Date.parse(to)].map((at) => (at - AT) / MINUTE);
    };
    expect(minutes(10, 600)).to.deep.equal([-60, 25]);
    expect(minutes(null, 30)).to.deep.equal([-60, 30]);
    expect(minutes(null, 5_000)).to.deep.equal([-60, 1_380]);
    expect(minutes(10, 12)).to.deep.equal([-60, 12]);
  });

  it('gives a silence the labels of this very event', () => {
    expect(matchersOf(event())).to.deep.equal({ rule: 'Busy CPU', node: 'edge-1' });
    expect(matchersOf(event({ nodeName: null, pipelineName: 'orders' }))).to.deep.equal({
      rule: 'Busy CPU',
      pipeline: 'orders',
    });
  });
});
