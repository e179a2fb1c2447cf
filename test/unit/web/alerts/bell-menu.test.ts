import { expect } from 'chai';
import type { OpenAlertEvents } from '../../../../schemas/api/insight/alerts.ts';
import { bellMenu } from '../../../../web/src/app/shell/bell-menu.ts';

type Event = OpenAlertEvents['events'][number];
const AT = new Date('2026-11-28T09:00:00Z');
const event = (id: string, change: Partial<Event> = {}): Event => ({
  ...{ id, environmentId: 'a', environmentName: 'staging', teamName: 'Ours', ruleId: 'r', ruleName: 'rule' },
  ...{ metric: 'cpu_usage', condition: 'gt', threshold: 90, durationSeconds: 60, nodeId: 'n', nodeName: 'n' },
  ...{ pipelineId: null, pipelineName: null, status: 'firing', message: id, value: 95, peak: 99, times: 1 },
  ...{ firedAt: AT, openedAt: AT, resolvedAt: null, resolvedReason: null, acknowledgedAt: null },
  ...{ acknowledgedBy: null, mutedBy: null },
  ...change,
});

describe('the bell', () => {
  it('is calm while nothing fires, and before it knows', () => {
    expect(bellMenu(undefined)).to.deep.include({ count: '', label: 'Alerts', groups: [] });
    expect(
      bellMenu({ firing: 0, acknowledged: 2, events: [event('x', { status: 'acknowledged' })] }),
    ).to.deep.include({
      count: '',
      label: 'Alerts: nothing is firing',
      groups: [],
    });
  });

  it('lists what fires by environment, without what is muted or acknowledged', () => {
    const events = [
      event('1'),
      event('2', { environmentId: 'b', environmentName: 'production' }),
      event('3'),
      event('4', { status: 'acknowledged' }),
      event('5', { mutedBy: 'maintenance' }),
    ];
    const { count, label, groups, rest } = bellMenu({ firing: 3, acknowledged: 1, events });
    expect([count, label, rest]).to.deep.equal(['3', 'Alerts: 3 alerts firing', 0]);
    expect(
      groups.map(({ environmentName, events: of }) => [environmentName, ...of.map(({ id }) => id)]),
    ).to.deep.equal([
      ['staging', '1', '3'],
      ['production', '2'],
    ]);
  });

  it('counts those that it does not list', () => {
    const events = Array.from({ length: 50 }, (_, n) => event(String(n)));
    const { count, rest } = bellMenu({ firing: 120, acknowledged: 0, events });
    expect([count, rest]).to.deep.equal(['99+', 112]);
  });
});
