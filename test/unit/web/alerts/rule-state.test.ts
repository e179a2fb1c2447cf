import { expect } from 'chai';
import type { AlertRule } from '../../../../schemas/api/insight/alerts.ts';
import { evaluationText, ruleState } from '../../../../web/src/features/alerts/rules/rule-state.ts';
import { watchedText } from '../../../../web/src/features/alerts/rules/watched-text.ts';

const NOW = Date.parse('2026-11-28T09:00:00Z');
type Evaluation = NonNullable<AlertRule['evaluation']>;
const evaluation = (change: Partial<Evaluation> = {}): Evaluation => ({
  ...{ evaluatedAt: new Date(NOW - 30_000), series: 12, withValue: 12, pending: 0, firing: 0 },
  ...change,
});
const rule = (change: Partial<AlertRule> = {}) => ({
  ...{ enabled: true, evaluation: evaluation(), metric: 'cpu_usage' as const, condition: 'gt' as const },
  ...{ threshold: 90, durationSeconds: 60, pipelineId: null, pipelineName: null, git: null },
  ...change,
});
const stateOf = (change: Partial<AlertRule>) => {
  const { word, tone, tip } = ruleState(rule(change), NOW);
  return { word, tone, tip };
};

describe('the state of an alert rule', () => {
  it('is OK, and green, only where something reports a value', () => {
    expect(stateOf({})).to.include({ word: 'OK', tone: 'ok' });
    expect(stateOf({ evaluation: evaluation({ withValue: 0 }) })).to.deep.equal({
      word: 'Cannot fire',
      tone: 'held',
      tip: 'None of the 12 nodes reports this value yet',
    });
    expect(stateOf({ evaluation: evaluation({ series: 1, withValue: 0 }) }).tip).to.equal(
      'The one node that it looks at does not report this value',
    );
  });

  it('says what is missing where the rule looks at nothing', () => {
    const nothing = evaluation({ series: 0, withValue: 0 });
    expect(stateOf({ evaluation: nothing })).to.include({
      word: 'Cannot fire',
      tip: 'There is no node in this environment that it could look at',
    });
    const of = { pipelineId: 'p', pipelineName: 'orders', metric: 'pipeline_crashed' as const, threshold: 0 };
    expect(stateOf({ evaluation: nothing, ...of }).tip).to.equal(
      'There is no pipeline on a node of orders that it could look at',
    );
  });

  it('cannot fire on a condition that 0 and 1 never meet', () => {
    expect(stateOf({ metric: 'node_unreachable', condition: 'gt', threshold: 1 })).to.include({
      word: 'Cannot fire',
      tone: 'held',
    });
  });

  it('counts what fires before anything else', () => {
    expect(stateOf({ evaluation: evaluation({ firing: 2, pending: 1 }) })).to.deep.equal({
      word: 'Firing (2)',
      tone: 'failed',
      tip: '12 series, 2 firing, 1 pending',
    });
    expect(stateOf({ evaluation: evaluation({ pending: 1 }) })).to.include({
      word: 'Pending',
      tone: 'moving',
    });
  });

  it('is not OK before the first evaluation, nor when the last one is long past', () => {
    expect(stateOf({ evaluation: null })).to.include({ word: 'Not evaluated yet', tone: 'unknown' });
    const old = evaluation({ evaluatedAt: new Date(NOW - 6 * 60_000), firing: 3 });
    expect(stateOf({ evaluation: old })).to.include({ word: 'Not evaluated', tone: 'held' });
    expect(stateOf({ evaluation: old }).tip).to.include('6 min ago');
    expect(stateOf({ enabled: false, evaluation: null })).to.include({ word: 'Silent', tone: 'unknown' });
  });

  it('tells how many series have no value', () => {
    expect(evaluationText(evaluation({ withValue: 9 }))).to.equal('12 series, 3 without a value');
    expect(evaluationText(evaluation({ withValue: 0 }))).to.equal('12 series, no value');
    expect(evaluationText(evaluation({ series: 0, withValue: 0 }))).to.equal('0 series');
  });

  it('adds up to how much is watched', () => {
    expect(watchedText([rule(), rule({ evaluation: evaluation({ withValue: 3 }) })])).to.deep.equal({
      watching: '2 rules watch 15 series.',
      unable: '',
    });
    expect(watchedText([rule(), rule({ evaluation: null })]).unable).to.match(/^1 rule has nothing to watch/);
    expect(watchedText([rule({ enabled: false })]).watching).to.equal(
      'No rule is enabled: nothing is watched.',
    );
  });
});
