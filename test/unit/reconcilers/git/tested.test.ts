import { expect } from 'chai';
import { retestedCondition, testedCondition } from '../../../../reconcilers/git/record/test-results.ts';
import type { DesiredManifest } from '../../../../reconcilers/source/index.ts';
import type { Condition } from '../../../../schemas/api/common.ts';
import type { TestResult } from '../../../../schemas/api/delivery/git-plan.ts';
import { desiredManifest } from '../../../support/fixtures/desired.ts';

const described = (count: number): DesiredManifest => {
  const manifest = desiredManifest({ name: 'web' });
  const tests = Array.from({ length: count }, (_, n) => ({
    name: `t${n}`,
    component: 'parse',
    input: {},
    expect: 'true',
  }));
  return { ...manifest, spec: { ...manifest.spec, tests } } as DesiredManifest;
};
const result = (status: TestResult['status'], n: number): TestResult => ({
  name: `t${n}`,
  component: 'parse',
  status,
  message: status === 'passed' ? null : `because ${n}`,
  line: 10 + n,
});

describe('the condition Tested', () => {
  const rows: { of: string; results: TestResult[] | null; expected: object | null }[] = [
    { of: 'one that was not checked', results: null, expected: null },
    {
      of: 'one whose tests were not reached',
      results: [],
      expected: {
        status: 'Unknown',
        reason: 'NotRun',
        message: '2 tests described; they run once the rest is correct',
      },
    },
    {
      of: 'one that passed all',
      results: [result('passed', 0), result('passed', 1)],
      expected: { status: 'True', reason: 'Passed', message: '2 tests passed' },
    },
    {
      of: 'one of whose tests one was not run',
      results: [result('passed', 0), result('skipped', 1)],
      expected: {
        status: 'Unknown',
        reason: 'Skipped',
        message: '1 test passed, 1 not run: "t1": because 1',
      },
    },
    {
      of: 'one that failed, at the line of the first that did',
      results: [result('skipped', 0), ...[1, 2, 3, 4].map((n) => result('failed', n))],
      expected: {
        status: 'False',
        reason: 'TestFailed',
        message: '4 of 5 tests failed: "t1": because 1; "t2": because 2; "t3": because 3; 1 more',
        line: 11,
      },
    },
  ];
  for (const { of, results, expected } of rows) {
    it(`of ${of}`, () => expect(testedCondition(described(2), results)).to.deep.equal(expected));
  }

  it('of one without tests says so, and of other kinds too', () => {
    const none = { status: 'Unknown', reason: 'NoTests', message: 'The manifest describes no tests' };
    expect(testedCondition(described(0), [])).to.deep.equal(none);
    expect(testedCondition(null, null)).to.deep.equal(none);
  });

  it('is well again where the manifest is what was accepted', () => {
    const was = (status: Condition['status']) => ({
      conditions: [{ type: 'Tested', status } as Condition],
    });
    expect(retestedCondition(was('True'), described(1))).to.deep.equal([]);
    expect(retestedCondition(was('False'), described(1))[0]).to.include({ status: 'True', reason: 'Passed' });
    expect(retestedCondition(was('False'), described(0))[0]).to.include({
      status: 'Unknown',
      reason: 'NoTests',
    });
  });
});
