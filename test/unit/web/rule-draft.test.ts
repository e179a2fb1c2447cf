import { expect } from 'chai';
import {
  durationProblem,
  meaningOf,
  NEW_RULE,
  thresholdProblem,
} from '../../../web/src/features/alerts/rule-draft.ts';
import { ruleText } from '../../../web/src/features/alerts/rule-text.ts';

describe('an alert rule while it is written', () => {
  it('takes numbers, and says what is none', () => {
    for (const [text, good] of [
      ['90', true],
      ['0.5', true],
      ['-1', true],
      ['', false],
      [' ', false],
      ['ninety', false],
      ['1e999', false],
    ] as const)
      expect(thresholdProblem({ ...NEW_RULE, threshold: text }) === '', text).to.equal(good);
    expect(thresholdProblem({ ...NEW_RULE, threshold: 'ninety' })).to.equal(
      'A number, for example 90 or 0.5.',
    );
    for (const [text, good] of [
      ['0', true],
      ['86400', true],
      ['86401', false],
      ['1.5', false],
      ['-1', false],
      ['', false],
    ] as const)
      expect(durationProblem({ ...NEW_RULE, duration: text }) === '', text).to.equal(good);
  });

  it('means that a fact is so, whatever number stood in the field', () => {
    const meaning = meaningOf(
      { ...NEW_RULE, metric: 'pipeline_crashed', condition: 'lt', threshold: 'x' },
      null,
    );
    expect(meaning).to.deep.equal({
      metric: 'pipeline_crashed',
      condition: 'eq',
      threshold: 1,
      durationSeconds: 60,
    });
    expect(meaning && ruleText(meaning)).to.equal('Pipeline has crashed for 60 s');
  });

  it('means nothing while a number is wrong', () => {
    expect(meaningOf({ ...NEW_RULE, duration: 'long' }, null)).to.equal(null);
  });
});
