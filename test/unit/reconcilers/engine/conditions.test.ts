import { expect } from 'chai';
import {
  type ConditionFact,
  type ConditionRecord,
  mergeConditions,
  sameConditions,
} from '../../../../reconcilers/loops/conditions.ts';

const ORDER = ['Parsed', 'Validated', 'Applied'] as const;
type Type = (typeof ORDER)[number];

const fact = (type: Type, more: Partial<ConditionFact<Type>> = {}): ConditionFact<Type> => ({
  type,
  status: 'True',
  reason: 'Fine',
  message: 'all is well',
  file: 'a.yaml',
  line: 1,
  commit: 'c1',
  ...more,
});
const BEFORE = '2026-01-01T00:00:00.000Z';
const NOW = new Date('2026-01-02T00:00:00.000Z');
const record = (type: Type, more: Partial<ConditionRecord<Type>> = {}): ConditionRecord<Type> => ({
  ...fact(type),
  lastTransition: BEFORE,
  ...more,
});

describe('conditions', () => {
  it('come in their order, whatever the order in which they were found', () => {
    const merged = mergeConditions(ORDER, [], [fact('Applied'), fact('Parsed'), fact('Validated')], NOW);
    expect(merged.map((one) => one.type)).to.deep.equal([...ORDER]);
  });

  it('carry the time of the pass when they are new', () => {
    expect(mergeConditions(ORDER, [], [fact('Parsed')], NOW)[0]?.lastTransition).to.equal(NOW.toISOString());
  });

  it('keep their time while the status stays, though reason, message and commit change', () => {
    const found = fact('Applied', { reason: 'Other', message: 'other words', commit: 'c2', line: 9 });
    expect(mergeConditions(ORDER, [record('Applied')], [found], NOW)).to.deep.equal([
      { ...found, lastTransition: BEFORE },
    ]);
  });

  it('get a new time when the status changes', () => {
    for (const status of ['False', 'Unknown'] as const) {
      const [merged] = mergeConditions(ORDER, [record('Applied')], [fact('Applied', { status })], NOW);
      expect(merged).to.include({ status, lastTransition: NOW.toISOString() });
    }
  });

  it('stay as they are where the pass says nothing of them', () => {
    const recorded = [record('Parsed', { message: 'earlier' }), record('Applied')];
    expect(mergeConditions(ORDER, recorded, [fact('Applied')], NOW)[0]).to.deep.equal(recorded[0]);
  });

  it('are the same whatever their times, and differ by any word', () => {
    const a = [record('Parsed'), record('Applied')];
    expect(sameConditions(a, [record('Parsed', { lastTransition: 'x' }), record('Applied')])).to.equal(true);
    expect(sameConditions(a, [record('Parsed')])).to.equal(false);
    const changes: Partial<ConditionRecord<Type>>[] = [
      { type: 'Validated' },
      { status: 'False' },
      { reason: 'x' },
      { message: 'x' },
      { file: null },
      { line: 2 },
      { commit: 'c2' },
    ];
    for (const change of changes)
      expect(
        sameConditions(a, [record('Parsed', change), record('Applied')]),
        JSON.stringify(change),
      ).to.equal(false);
  });
});
