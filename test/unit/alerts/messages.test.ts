import { expect } from 'chai';
import { eventMessage } from '../../../controller/insight/alerts/evaluation/messages.ts';

type Text = Parameters<typeof eventMessage>[0];
const text = (change: Partial<Text>): string =>
  eventMessage({
    ...{ metric: 'node_unreachable', condition: 'eq', threshold: 1, durationSeconds: 0 },
    ...{ nodeName: 'edge-1', pipelineName: 'orders', value: 1 },
    ...change,
  });

describe('the message of an alert', () => {
  it('says the same once the value is that of the end', () => {
    expect(text({})).to.equal('edge-1 is unreachable');
    expect(text({ value: 0 })).to.equal('edge-1 is unreachable');
    expect(text({ metric: 'pipeline_crashed', value: 0, durationSeconds: 60 })).to.equal(
      'orders crashed on edge-1 for 60 s',
    );
  });

  it('is the opposite for a rule that asks for it', () => {
    expect(text({ threshold: 0, value: 0 })).to.equal('edge-1 is reachable');
    expect(text({ condition: 'lt', value: 1 })).to.equal('edge-1 is reachable');
    expect(text({ metric: 'pipeline_crashed', threshold: 0, value: 0 })).to.equal(
      'orders has not crashed on edge-1',
    );
  });

  it('goes by the value where the condition always holds', () => {
    expect(text({ condition: 'lt', threshold: 2, value: 0 })).to.equal('edge-1 is reachable');
    expect(text({ condition: 'lt', threshold: 2, value: 1 })).to.equal('edge-1 is unreachable');
  });
});
