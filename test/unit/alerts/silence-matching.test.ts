import { expect } from 'chai';
import fc from 'fast-check';
import {
  type ActiveSilence,
  isMatched,
  MAINTENANCE,
  type MatchedEvent,
  mutedBy,
} from '../../../schemas/alerts/silence-matching.ts';

const event: MatchedEvent = {
  rule: 'Silent nodes',
  metric: 'node_unreachable',
  node: { name: 'edge-1', labels: { rack: 'r7', node: 'a label of that name' }, maintenance: false },
  pipeline: null,
};

describe('silences', () => {
  const cases: [Record<string, string>, boolean, string][] = [
    [{ rack: 'r7' }, true, 'a label of the node'],
    [{ rack: 'r8' }, false, 'another value'],
    [{ rack: 'r*' }, true, 'the beginning of a value'],
    [{ rack: 'x*' }, false, 'another beginning'],
    [{ node: 'edge-1' }, true, 'the name of the node, whatever its labels are'],
    [{ rule: 'Silent nodes', metric: 'node_unreachable' }, true, 'what the event is'],
    [{ rack: 'r7', rule: 'Busy CPU' }, false, 'only one of two'],
    [{ pipeline: '*' }, false, 'a pipeline that the event does not have'],
    [{ toString: '*' }, false, 'what every object has'],
  ];
  for (const [matchers, expected, reason] of cases)
    it(`${expected ? 'match' : 'do not match'} by ${reason}`, () => {
      expect(isMatched(event, matchers)).to.equal(expected);
    });

  it('mute by maintenance first, then by the first that matches', () => {
    const silences: ActiveSilence[] = [
      { id: 'other', matchers: { rack: 'r8' } },
      { id: 'one', matchers: { rack: 'r7' } },
      { id: 'two', matchers: { node: '*' } },
    ];
    expect(mutedBy(event, silences)).to.equal('one');
    expect(mutedBy(event, [])).to.equal(null);
    const node = { name: 'edge-1', labels: {}, maintenance: true };
    expect(mutedBy({ ...event, node }, silences)).to.equal(MAINTENANCE);
  });

  it('match fewer events the more labels they have', () => {
    const labels = fc.dictionary(
      fc.constantFrom('rack', 'rule', 'node', 'role'),
      fc.constantFrom('r7', 'r*', 'edge-1', 'Silent nodes', '*'),
    );
    fc.assert(
      fc.property(labels, labels, (some, more) => {
        if (isMatched(event, { ...more, ...some })) expect(isMatched(event, some)).to.equal(true);
      }),
    );
  });
});
