import { expect } from 'chai';
import type { AlertEvent } from '../../../../schemas/api/insight/alerts.ts';
import {
  countMuted,
  endOf,
  endProblem,
  isComplete,
  matcherSuggestions,
  matchersProblem,
  newDraft,
} from '../../../../web/src/features/alerts/silences/silence-draft.ts';

const NOW = Date.parse('2026-11-28T09:00:00Z');
const event = (change: Partial<AlertEvent>): AlertEvent => ({
  ...{ id: 'e', environmentId: 'env', ruleId: 'r', ruleName: 'Busy CPU', metric: 'cpu_usage' },
  ...{ condition: 'gt', threshold: 90, durationSeconds: 60, nodeId: 'n1', nodeName: 'edge-1' },
  ...{ pipelineId: null, pipelineName: null, status: 'firing', message: '', value: 95, peak: 99, times: 1 },
  ...{ firedAt: new Date(NOW), openedAt: new Date(NOW), resolvedAt: null, resolvedReason: null },
  ...{ acknowledgedAt: null, acknowledgedBy: null, mutedBy: null },
  ...change,
});
const NODES: { id: string; name: string; labels: Record<string, string> }[] = [
  { id: 'n1', name: 'edge-1', labels: { rack: 'r7' } },
  { id: 'n2', name: 'edge-2', labels: { rack: 'r8', role: 'edge' } },
];

describe('a silence that is written', () => {
  it('begins with the labels of an event, or with an empty row', () => {
    expect(newDraft({ rule: 'Busy CPU' }).rows).to.deep.equal([['rule', 'Busy CPU']]);
    expect(newDraft({}).rows).to.deep.equal([['', '']]);
  });

  it('needs whole labels, a reason and an end that is to come', () => {
    const draft = { ...newDraft({ rack: 'r7' }), reason: 'A move' };
    expect(isComplete(draft, NOW)).to.equal(true);
    expect(isComplete({ ...draft, reason: '  ' }, NOW)).to.equal(false);
    expect(isComplete({ ...draft, rows: [['', '']] }, NOW)).to.equal(false);
    expect(matchersProblem([['rack', '']])).to.equal('rack has no value.');
    expect(matchersProblem([['', 'r7']])).to.equal('“r7” has no label.');
    expect(matchersProblem(Array.from({ length: 17 }, (_, n) => [`k${n}`, 'v'] as const))).to.match(
      /At most 16/,
    );
    expect(isComplete({ ...draft, end: 'at', endsAt: '' }, NOW)).to.equal(false);
    expect(endProblem({ ...draft, end: 'at', endsAt: '2020-01-01T00:00' }, NOW)).to.equal(
      'It lies in the past.',
    );
    expect(endProblem({ ...draft, end: 'at', endsAt: '2036-01-01T00:00' }, NOW)).to.match(/At most a year/);
    expect(endProblem({ ...draft, end: 'at', endsAt: '2026-12-01T00:00' }, NOW)).to.equal('');
  });

  it('ends after the chosen time', () => {
    expect(endOf({ ...newDraft({}), end: '1w' }, NOW)?.toISOString()).to.equal('2026-12-05T09:00:00.000Z');
    expect(endOf({ ...newDraft({}), end: 'at', endsAt: 'soon' }, NOW)).to.equal(null);
  });

  it('counts the open events that it would mute', () => {
    const events = [
      event({ id: '1' }),
      event({ id: '2', nodeId: 'n2', nodeName: 'edge-2' }),
      event({ id: '3', nodeId: null, nodeName: null, pipelineId: 'p', pipelineName: 'orders' }),
    ];
    const count = (...rows: [string, string][]) => countMuted(rows, events, NODES);
    expect(count(['rack', 'r*'])).to.deep.equal({ muted: 2, open: 3 });
    expect(count(['rack', 'r7'])).to.deep.equal({ muted: 1, open: 3 });
    expect(count(['pipeline', 'orders'])).to.deep.equal({ muted: 1, open: 3 });
    expect(count(['rule', 'Busy CPU'])).to.deep.equal({ muted: 3, open: 3 });
    expect(count(['rule', 'Busy CPU'], ['role', ''])).to.deep.equal({ muted: 0, open: 3 });
    expect(count(['', ''])).to.deep.equal({ muted: 0, open: 3 });
  });

  it('is offered labels of events first, then those of nodes, with their values', () => {
    const { keys, valuesOf } = matcherSuggestions([{ name: 'Busy CPU' }], NODES, [{ name: 'orders' }]);
    expect(keys).to.deep.equal(['rule', 'metric', 'node', 'pipeline', 'rack', 'role']);
    expect(valuesOf('rack')).to.deep.equal(['r7', 'r8']);
    expect(valuesOf('node')).to.deep.equal(['edge-1', 'edge-2']);
    expect(valuesOf('metric')).to.include('node_unreachable');
    expect(valuesOf('unknown')).to.deep.equal([]);
  });
});
