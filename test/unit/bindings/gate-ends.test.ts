import { expect } from 'chai';
import { manifestEnds } from '../../../controller/delivery/bindings/inventory/gate-ends.ts';
import type { Condition } from '../../../schemas/api/common.ts';

const condition = (type: Condition['type'], status: Condition['status'], reason: string): Condition => ({
  ...{ type, status, reason, message: `${reason} it is` },
  ...{ file: 'a.yaml', line: 1, commit: 'c1', lastTransition: new Date(0) },
});
const ends = (conditions: Condition[], prunePending = false) => {
  const { git, accepted } = manifestEnds({
    ...{ conditions, prunePending, seenCommit: 'c2', appliedCommit: 'c1' },
  });
  expect([git.commit, accepted.commit]).to.deep.equal(['c2', 'c1']);
  return `git ${git.state}, accepted ${accepted.state}: ${accepted.reason}`;
};
const parsed = condition('Parsed', 'True', 'Parsed');
const applied = (status: Condition['status'], reason: string) => [
  parsed,
  condition('Applied', status, reason),
];

describe('the strip of a manifest without nodes', () => {
  const rows: [what: string, conditions: Condition[], expected: string][] = [
    ['was applied', applied('True', 'Applied'), 'git done, accepted done: Applied'],
    ['has drifted', applied('True', 'Drifted'), 'git done, accepted done: Drifted it is'],
    ['cannot be applied', applied('False', 'ApplyFailed'), 'git done, accepted failed: ApplyFailed it is'],
    ['is of no owned kind', applied('Unknown', 'NotOwned'), 'git done, accepted unknown: NotOwned it is'],
    ['nobody has judged', [], 'git done, accepted unknown: Nothing was applied'],
    [
      'does not parse',
      [condition('Parsed', 'False', 'Malformed'), condition('Applied', 'False', 'Invalid')],
      'git failed, accepted failed: Invalid it is',
    ],
    [
      'fails its tests',
      [parsed, condition('Tested', 'False', 'TestFailed'), condition('Applied', 'False', 'Invalid')],
      'git failed, accepted failed: Invalid it is',
    ],
  ];
  for (const [what, conditions, expected] of rows)
    it(`of one that ${what}`, () => expect(ends(conditions)).to.equal(expected));

  for (const reason of ['Held', 'Suspended', 'Conflict', 'Guarded', 'Blocked', 'Observing'])
    it(`waits, and has failed in nothing, where it is ${reason}`, () =>
      expect(ends(applied('False', reason))).to.equal(`git done, accepted held: ${reason} it is`));

  it('waits where the manifest is gone and the object is kept', () =>
    expect(ends(applied('False', 'PruneWaits'), true)).to.equal('git held, accepted held: PruneWaits it is'));
});
